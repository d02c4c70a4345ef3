"""Runs as their owners look for them. Whatever is asked, only so many rows are looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from cadenza.application.ports.search_result import SearchResult, Span
from cadenza.domain.health import Health
from cadenza.domain.plan import Source
from cadenza.domain.run import Body, LateResult, LostAttempt, Run, RunStatus
from cadenza.domain.target import Target


@dataclass(frozen=True, slots=True)
class RunSearch(Span):
    endpoint_id: UUID | None = None
    job_id: UUID | None = None
    statuses: tuple[RunStatus, ...] = ()
    sources: tuple[Source, ...] = ()
    is_manual: bool | None = None
    error: str | None = None  # a piece of its kind or message
    status_code: int | None = None
    job_ids: frozenset[UUID] | None = None  # only of these; None: of all

    @property
    def is_plain(self) -> bool:
        """Every row that is looked at is wanted."""
        is_any = not self.statuses and not self.sources and self.is_manual is None
        return is_any and self.error is None and self.status_code is None


class ListedRun(NamedTuple):
    """A run in a list; a tuple, because they come by hundreds."""

    id: UUID
    endpoint_id: UUID
    slot_at: datetime
    source: Source
    status: RunStatus
    attempt: int
    is_manual: bool
    started_at: datetime | None
    finished_at: datetime | None
    status_code: int | None
    error_kind: str | None
    error_message: str | None
    skipped_slots: int
    skipped_reason: str | None


class RunRef(NamedTuple):
    id: UUID
    slot_at: datetime
    status: RunStatus


@dataclass(frozen=True, slots=True)
class RunAround:
    """What a run belongs to, and those of its endpoint that came before and after it."""

    endpoint_name: str
    job_id: UUID
    job_name: str
    target: Target  # as it is now, its secrets by name only
    target_changed_at: datetime | None  # None: not since that is noted
    before: RunRef | None
    after: RunRef | None


@dataclass(frozen=True, slots=True)
class RunInFull:
    run: Run
    lost_attempts: Sequence[LostAttempt]
    late_results: Sequence[LateResult]
    around: RunAround


class RunReads(Protocol):
    async def search_runs(self, tenant_id: UUID, search: RunSearch) -> SearchResult[ListedRun]:
        """Newest slot first."""
        ...

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> RunInFull: ...

    async def health_of(self, tenant_id: UUID, endpoint_id: UUID) -> Health: ...


class LatestAnswers(Protocol):
    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        """By job and endpoint, the body of the last run where that went well; in one query."""
        ...
