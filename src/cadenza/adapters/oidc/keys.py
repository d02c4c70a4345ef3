"""The provider's keys. One that it has rotated in is fetched when a token first names it, but not
oftener than every few seconds, whatever tokens come."""

from collections.abc import Callable
from typing import Any, cast

import jwt

from cadenza.adapters.oidc.fetching import fetch_json
from cadenza.application.ports.identity import IdentityRefused

FRESH_FOR = 3600.0
AT_LEAST = 5.0  # between two fetches
# What is signed with a key that everybody may know; never `none`, never a shared secret.
ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
)


class ProviderKeys:
    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._documents: list[dict[str, Any]] = []
        self._fetched_at: float | None = None

    async def find(self, url: str, header: dict[str, Any]) -> jwt.PyJWK:
        """The key that a token says it is signed with, bound to the token's algorithm."""
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise IdentityRefused("the provider's token is signed in a way that is not accepted")
        age = None if self._fetched_at is None else self._monotonic() - self._fetched_at
        if age is None or age > FRESH_FOR:
            await self._fetch(url)
        candidate = self._match(algorithm, key_id)
        if candidate is None and age is not None and age > AT_LEAST:
            await self._fetch(url)
            candidate = self._match(algorithm, key_id)
        if candidate is None:
            raise IdentityRefused("the provider's token is signed with a key that it does not have")
        return candidate

    async def _fetch(self, url: str) -> None:
        document = await fetch_json(url)
        keys: object = document.get("keys")
        listed = cast("list[object]", keys) if isinstance(keys, list) else []
        self._documents = [cast("dict[str, Any]", key) for key in listed if isinstance(key, dict)]
        self._fetched_at = self._monotonic()

    def _match(self, algorithm: str, key_id: object) -> jwt.PyJWK | None:
        fitting = [document for document in self._documents if _fits(document, algorithm)]
        named = [document for document in fitting if document.get("kid") == key_id]
        # Without a name there may be only one that it could be.
        chosen = named if key_id is not None else fitting
        if len(chosen) != 1:
            return None
        try:
            return jwt.PyJWK(chosen[0], algorithm)
        except (jwt.PyJWTError, ValueError, TypeError):
            return None


_KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


def _fits(document: dict[str, Any], algorithm: str) -> bool:
    return (
        document.get("kty") == _KINDS[algorithm[:2]]
        and document.get("use", "sig") == "sig"
        and document.get("alg", algorithm) == algorithm
    )
