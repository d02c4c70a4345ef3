"""The rules of scheduling: pure, synchronous, standard library only."""
