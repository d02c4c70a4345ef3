"""Encryption at rest: a value is sealed for one place, and opens only there."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from cadenza.domain.errors import OperatorError


class SecretUnreadable(OperatorError):
    """A sealed value does not open: its key is missing, or it is not what was sealed there."""

    def __init__(self, message: str, missing_key_id: str | None = None) -> None:
        self.missing_key_id = missing_key_id
        super().__init__(message)


class SecretBox(Protocol):
    @property
    def key_ids(self) -> Sequence[str]:
        """The master keys at hand; the first one seals, all of them open."""
        ...

    def seal(self, plain: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str: ...

    def open(self, sealed: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str:
        """What was sealed for just this place; SecretUnreadable otherwise."""
        ...
