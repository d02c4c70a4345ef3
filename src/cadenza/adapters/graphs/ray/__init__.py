"""Runs on a Ray cluster: a host on each node forks the children, the worker reads them."""
