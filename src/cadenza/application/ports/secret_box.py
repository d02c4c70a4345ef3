"""Encryption at rest: a value is sealed for one place, and opens only there."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID


class SecretBox(Protocol):
    @property
    def key_ids(self) -> Sequence[str]:
        """The master keys at hand; the first one seals, all of them open."""
        ...

    def seal(self, plain: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str: ...

    def open(self, sealed: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str:
        """What was sealed for just this place; SecretUnreadable otherwise."""
        ...
