"""Backups: one file with everything that is stored, and how it becomes a database again."""
