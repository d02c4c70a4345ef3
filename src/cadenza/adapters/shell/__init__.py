"""Commands on the worker's own machine: only where the admin allows them."""
