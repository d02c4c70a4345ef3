"""`cadenza up`: everything on one machine, in one supervised program."""
