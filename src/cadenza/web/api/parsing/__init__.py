"""What the API reads: JSON, request bodies, query parameters, cursors and headers."""
