"""What the operating system gives: wall clock and chance. Nothing else may ask for them."""
