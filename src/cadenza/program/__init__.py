"""A user's own Python program as a place where functions run: what it declares, and its handles."""
