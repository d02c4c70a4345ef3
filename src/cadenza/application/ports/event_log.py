"""What happened, in an order that is the same for every reader."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

_WRITTEN = re.compile(r"(0|[1-9][0-9]{0,18})-(0|[1-9][0-9]{0,18})")
_LARGEST = 2**63 - 1


class Position(NamedTuple):
    """Of an event: its transaction, and its number. Written `xact-id`."""

    xact: int
    id: int

    @classmethod
    def read(cls, text: str) -> "Position | None":
        """None for what was not written by us."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            return None
        xact, number = map(int, match.groups())
        return cls(xact, number) if max(xact, number) <= _LARGEST else None

    def __str__(self) -> str:
        return f"{self.xact}-{self.id}"


BEGINNING = Position(0, 0)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    position: Position
    at: datetime
    kind: str
    job_id: UUID | None
    endpoint_id: UUID | None
    data: dict[str, Any]


class EventLog(Protocol):
    async def read_after(
        self, tenant_id: UUID, position: Position, limit: int
    ) -> Sequence[StoredEvent]:
        """In order; none that is written later ever comes before one that was read."""
        ...

    async def last_position(self, tenant_id: UUID) -> Position: ...

    async def is_kept(self, tenant_id: UUID, position: Position) -> bool:
        """Whether all that came after it is still there."""
        ...

    async def watch(self, tenant_id: UUID) -> None:
        """Somebody follows: for ten minutes, runs that end well are told too."""
        ...
