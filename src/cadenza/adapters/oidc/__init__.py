"""Signing in at an OpenID provider: authorization code with PKCE."""
