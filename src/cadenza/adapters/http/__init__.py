"""Calling HTTP targets."""
