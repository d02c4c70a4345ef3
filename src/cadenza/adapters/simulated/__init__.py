"""A world to simulate in: time that jumps, chance from a seed, scripted targets and brains."""
