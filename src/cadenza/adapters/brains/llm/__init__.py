"""A brain that asks a language model, through the same tools as every other brain."""
