"""The stores in memory: the same promises as the database, for the simulation and the tests."""
