"""The dashboard: pages over the same use cases and reads as the API, in the same process."""
