"""Results that are reported to us: what is stored of them, and what a dispatcher asks for."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from cadenza.domain.result import AwaitedResult, Report
from cadenza.domain.run import Claim


class ResultReads(Protocol):
    async def reports_of(self, run_ids: Collection[UUID]) -> Mapping[UUID, Report]:
        """Of those of which something was reported."""
        ...


class ResultRows(Protocol):
    """A transaction's verbs."""

    async def insert_awaited(self, awaited: AwaitedResult) -> None:
        """In the place of one for the same attempt, which was given back."""
        ...

    async def lock_awaited(self, run_id: UUID) -> tuple[Sequence[AwaitedResult], bool]:
        """Of each attempt, the first first; and whether the run is under way."""
        ...

    async def save_report(self, awaited: AwaitedResult, report: Report) -> None: ...

    async def close_awaited(self, run_id: UUID) -> None: ...


class Results(Protocol):
    """For a dispatcher whose run may wait."""

    async def expect(self, claim: Claim) -> tuple[str, Report | None]:
        """The token to send along; and what was reported to an earlier attempt."""
        ...

    async def wait(self, run_id: UUID) -> Report: ...

    async def close(self, run_id: UUID) -> Report | None:
        """Nobody waits any more; what was reported up to now."""
        ...
