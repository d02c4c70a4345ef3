"""Whether this process runs one function as a child: a program is loaded there, not started."""

here = False
