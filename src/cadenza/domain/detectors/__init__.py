"""Detectors: small pure rules about an endpoint's answers, each with a sentence that says why."""
