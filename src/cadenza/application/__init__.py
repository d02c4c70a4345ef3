"""What Cadenza does, over ports: no database, no network, no wall clock in here."""
