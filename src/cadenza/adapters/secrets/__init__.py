"""Encryption at rest: AES-256-GCM under master keys from a setting or a file."""
