"""Signatures of what is sent, after the Standard Webhooks specification."""
