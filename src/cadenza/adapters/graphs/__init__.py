"""User code in killable child processes, forked from a server that has it loaded already."""
