"""Every sealed value of an installation, for bringing them under another master key."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that stays as it is, because it does not open."""

    row_id: UUID
    column: str
    why: str


@dataclass(slots=True)
class Resealed:
    values: int = 0  # brought under the first key
    held: int = 0  # rows that somebody else held or changed: the next round takes them
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])


class SealedValues(Protocol):
    async def count_by_key(self) -> dict[str, int]:
        """How many values need each master key, also those that are missing here."""
        ...

    def rotating(self) -> AbstractAsyncContextManager[None]:
        """Refused where another rotation is under way."""
        ...

    async def reseal(self, on_progress: Callable[[int], None]) -> Resealed:
        """Bring every value under the first master key."""
        ...


class MasterKeyIds(Protocol):
    @property
    def where(self) -> str:
        """What a person calls the setting or file that holds them."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """The first one encrypts, all of them decrypt."""
        ...
