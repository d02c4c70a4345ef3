"""CEL: the small expressions that owners write."""
