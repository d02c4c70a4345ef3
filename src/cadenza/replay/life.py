"""A life that is lived again: the real planner, tools and governor, with answers of the past."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from uuid import UUID

from cadenza.application.ports.brain import Brain
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import BrainFailed, InstallationError
from cadenza.domain.session import Session, SessionEnd
from cadenza.replay.history import History
from cadenza.replay.purse import Purse
from cadenza.replay.stage import Stage, staged

MOST_ROUNDS = 200_000
FAILURES_IN_A_ROW = 3


@dataclass(slots=True)
class Life:
    """When each endpoint was asked, and the sessions that did or wanted something."""

    end: datetime
    is_cut: bool  # it ended before the history did: nothing was left to spend
    probes: dict[str, list[datetime]] = field(default_factory=dict[str, list[datetime]])
    sessions: list[Session] = field(default_factory=list[Session])
    names: Mapping[UUID, str] = field(default_factory=dict[UUID, str])  # of its endpoints

    @property
    def failed(self) -> int:
        return sum(session.end is SessionEnd.FAILED for session in self.sessions)


async def relive(
    job: JobDefinition,
    histories: Mapping[str, History],
    begin: datetime,
    end: datetime,
    brain: Brain | None,
    purse: Purse | None = None,
) -> Life:
    """With no brain: what the baselines alone would have done. Nothing is written anywhere.

    It ends sooner where the purse is empty.
    """
    stage = await staged(job, histories, begin)
    planner = stage.planner(brain, purse) if brain is not None else None
    tables, failures = stage.tables, 0
    for _ in range(MOST_ROUNDS):
        next_at = stage.next_at
        if next_at is None or next_at > end:
            return _life(stage, end, is_cut=False)
        await stage.run_due(next_at)
        if planner is not None:
            known = len(tables.sessions)
            done = await planner.run_once()
            if done.over_quota:
                return _life(stage, stage.clock.at, is_cut=True)
            failures = _failures(failures, list(islice(tables.sessions.values(), known, None)))
    raise InstallationError(
        "The replay is too long: take a shorter --since, or one --job at a time"
    )


def _failures(before: int, sessions: Sequence[Session]) -> int:
    """How many rounds in a row brought nothing but failures.

    A provider that is away stays away for this replay: its time is not that of the history.
    """
    if not sessions:
        return before
    if any(session.end is not SessionEnd.FAILED for session in sessions):
        return 0
    if before + 1 == FAILURES_IN_A_ROW:
        raise BrainFailed("; ".join(sessions[-1].warnings))
    return before + 1


def _life(stage: Stage, end: datetime, *, is_cut: bool) -> Life:
    names = {row.endpoint.id: row.endpoint.name for row in stage.tables.endpoints.values()}
    probes = {name: stage.probes(name) for name in names.values()}
    return Life(end, is_cut, probes, list(stage.tables.sessions.values()), names)
