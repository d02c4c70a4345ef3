"""One module an entry of the menu."""
