"""The store in memory: the same ports and promises as the database, for tests and simulations."""
