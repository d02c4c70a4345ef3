"""`cadenza doctor`: what can be wrong with an installation, each with its fix."""
