"""The command line: one file for each group of commands; what they need is given in by a root."""
