"""Brains: what thinks in a session."""
