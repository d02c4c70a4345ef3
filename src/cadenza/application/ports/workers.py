"""Which workers live, and which graphs they can run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from cadenza.domain.known_graph import Announcement, KnownGraph

BEAT_EVERY = timedelta(seconds=5)
GONE_AFTER = 3 * BEAT_EVERY


@dataclass(frozen=True, slots=True)
class Condition:
    """How a worker is, when it says that it lives."""

    version: str = ""
    in_flight: int | None = None  # None: it does not count
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class KnownWorker:
    name: str
    kind: str
    started_at: datetime
    seen_at: datetime
    is_alive: bool
    condition: Condition
    labels: tuple[str, ...] = ()


class Workers(Protocol):
    async def beat(self, name: str, kind: str, condition: Condition) -> bool:
        """It lives; whether it was not known before."""
        ...

    async def announce(self, name: str, announcement: Announcement) -> None:
        """In place of what it announced before."""
        ...

    async def left(self, name: str) -> None:
        """It has ended as it should, and is forgotten with its graphs."""
        ...


class WorkerReads(Protocol):
    """Workers belong to the installation."""

    async def list_workers(self, limit: int) -> Sequence[KnownWorker]:
        """Those that live first, then by kind and name."""
        ...


class GraphReads(Protocol):
    """Graphs belong to the installation, and every tenant sees them."""

    async def list_graphs(self, after: str | None, limit: int) -> Sequence[KnownGraph]:
        """By id, after this one."""
        ...

    async def find_graphs(self, graph_ids: Sequence[str]) -> Mapping[str, KnownGraph]:
        """By id, those of them that are known."""
        ...
