"""Publishing messages to brokers, one adapter each."""
