"""Commands on the worker's own machine: only where the operator allows them."""
