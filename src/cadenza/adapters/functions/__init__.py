"""Functions of a user's own Python program: called on its loop, in threads, or in a child."""
