"""Detectors: small rules about what an endpoint answered. Pure, and each says why in a sentence."""
