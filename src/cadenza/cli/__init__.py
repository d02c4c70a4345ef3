"""The command line: one file for each group of commands; a root hands in what they need."""
