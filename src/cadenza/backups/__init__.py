"""`cadenza backup` and `cadenza restore`: all that is stored, to a file or to an instant."""
