"""What the API sends: response schemas, and the functions that make them from stored values."""
