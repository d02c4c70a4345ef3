"""The run gateway: a graph's calls of models, on loopback, counted and limited on their way out."""
