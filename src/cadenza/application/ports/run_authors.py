"""Who asked for runs that the baseline did not choose: by hand, or with a hint."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from cadenza.domain.plan import Source
from cadenza.domain.score import SteeredBy

Slot = tuple[UUID, datetime]  # of an endpoint
HINTS = {Source.AI_INTERVAL: "interval", Source.AI_ONESHOT: "once"}  # as their kinds are kept
BY_HAND = "manual"


class RunAuthor(NamedTuple):
    by: SteeredBy
    name: str | None  # of the person or the declared rule, where it is known still
    user_id: UUID | None = None
    session_id: UUID | None = None
    reason: str = ""
    tightens: bool | None = None  # the interval hint that was in force


class SteeredRun(Protocol):
    """What is looked at of a run."""

    @property
    def endpoint_id(self) -> UUID: ...
    @property
    def slot_at(self) -> datetime: ...
    @property
    def source(self) -> Source: ...
    @property
    def is_manual(self) -> bool: ...


class RunAuthorRows(Protocol):
    async def note_asked_run(self, endpoint_id: UUID, slot_at: datetime, user_id: UUID) -> None: ...


class RunAuthorReads(Protocol):
    """Of endpoints that belong to the caller's tenant."""

    async def authors_of(
        self, wanted: Sequence[tuple[UUID, datetime, str]]
    ) -> Mapping[Slot, RunAuthor]:
        """By endpoint, slot and kind: who asked by hand, or whose hint was in force then."""
        ...

    async def asked_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Mapping[Slot, RunAuthor]:
        """By hand, at these endpoints."""
        ...


async def authors_of_runs(
    reads: RunAuthorReads, runs: Iterable[SteeredRun]
) -> Mapping[Slot, RunAuthor]:
    """One look for all of a page, and none where its runs are the baseline's."""
    wanted = [
        (run.endpoint_id, run.slot_at, BY_HAND if run.is_manual else HINTS[run.source])
        for run in runs
        if run.is_manual or run.source in HINTS
    ]
    return await reads.authors_of(wanted) if wanted else {}
