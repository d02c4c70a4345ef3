"""What the tables of figures are made from: `make bench`, or one of them with --json."""
