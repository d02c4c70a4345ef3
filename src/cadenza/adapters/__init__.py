"""One outside thing each; siblings never import each other."""
