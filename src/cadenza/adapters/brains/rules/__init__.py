"""The rules brain: declared rules first, then detectors. No key, no network, no chance."""
