"""Commands on the worker's own machine: only where the installation's admin allows them."""
