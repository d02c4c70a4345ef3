"""What the README's performance table is made from: `make bench`, or one of them with --json."""
