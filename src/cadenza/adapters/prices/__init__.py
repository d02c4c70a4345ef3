"""What a call of a model costs."""
