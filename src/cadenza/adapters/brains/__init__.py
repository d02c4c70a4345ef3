"""What thinks in a session."""
