"""A plan: when an endpoint runs next, and the record of how that was decided."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from cadenza.domain.instants import from_iso, iso, milliseconds


class Source(StrEnum):
    """Why a run happens when it does."""

    BASELINE_CRON = "baseline-cron"
    BASELINE_INTERVAL = "baseline-interval"
    AI_INTERVAL = "ai-interval"
    AI_ONESHOT = "ai-oneshot"
    CLAMPED_MIN = "clamped-min"
    CLAMPED_MAX = "clamped-max"
    RETRY_AFTER = "retry-after"
    PAUSED = "paused"
    RESUMED = "resumed"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A time that was considered; `excluded` says why it could not be chosen."""

    source: Source
    at: datetime
    excluded: str | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the governor looked at, so that a decision can be checked by hand."""

    now: datetime
    after_run: bool
    anchor_at: datetime | None
    last_slot_at: datetime | None
    failure_count: int
    jitter: timedelta
    overrun: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """`next_run_at` is None where nothing asks for a run."""

    next_run_at: datetime | None
    source: Source | None
    anchor_at: datetime | None
    winner: Source | None
    inputs: Inputs
    candidates: tuple[Candidate, ...] = ()
    clamps: tuple[Source, ...] = ()
    note: str | None = None

    def record(self, instant: Callable[[datetime], object] = iso) -> dict[str, Any]:
        """The plan as JSON, stored with the endpoint and with the run that it led to.

        A writer that knows instants by itself asks for them as they are.
        """

        def written(at: datetime | None) -> object:
            return None if at is None else instant(at)

        inputs = self.inputs
        return {
            "next_run_at": written(self.next_run_at),
            "source": self.source,
            "anchor_at": written(self.anchor_at),
            "winner": self.winner,
            "clamps": list(self.clamps),
            "note": self.note,
            "candidates": [
                {"source": each.source, "at": instant(each.at), "excluded": each.excluded}
                for each in self.candidates
            ],
            "inputs": {
                "now": instant(inputs.now),
                "after_run": inputs.after_run,
                "anchor_at": written(inputs.anchor_at),
                "last_slot_at": written(inputs.last_slot_at),
                "failure_count": inputs.failure_count,
                "jitter_ms": milliseconds(inputs.jitter),
                "overrun": inputs.overrun,
            },
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Plan":
        inputs = record["inputs"]
        return cls(
            next_run_at=_instant(record["next_run_at"]),
            source=_source(record["source"]),
            anchor_at=_instant(record["anchor_at"]),
            winner=_source(record["winner"]),
            clamps=tuple(Source(each) for each in record["clamps"]),
            note=record["note"],
            candidates=tuple(
                Candidate(Source(each["source"]), from_iso(each["at"]), each["excluded"])
                for each in record["candidates"]
            ),
            inputs=Inputs(
                now=from_iso(inputs["now"]),
                after_run=inputs["after_run"],
                anchor_at=_instant(inputs["anchor_at"]),
                last_slot_at=_instant(inputs["last_slot_at"]),
                failure_count=inputs["failure_count"],
                jitter=timedelta(milliseconds=inputs["jitter_ms"]),
                overrun=inputs["overrun"],
            ),
        )


def _instant(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)


def _source(text: str | None) -> Source | None:
    return None if text is None else Source(text)
