"""Which workers live, and which graphs they can run."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from cadenza.domain.known_graph import Announcement, KnownGraph

BEAT_EVERY = timedelta(seconds=5)
GONE_AFTER = 3 * BEAT_EVERY


class Workers(Protocol):
    async def beat(self, name: str, kind: str) -> bool:
        """It lives; whether it was not known before."""
        ...

    async def announce(self, name: str, announcement: Announcement) -> None:
        """In place of what it announced before."""
        ...

    async def left(self, name: str) -> None:
        """It has ended as it should, and is forgotten with its graphs."""
        ...


class GraphReads(Protocol):
    """Graphs belong to the installation, and every tenant sees them."""

    async def list_graphs(self, after: str | None, limit: int) -> Sequence[KnownGraph]:
        """By id, after this one."""
        ...

    async def find_graphs(self, graph_ids: Sequence[str]) -> Mapping[str, KnownGraph]:
        """By id, those of them that are known."""
        ...
