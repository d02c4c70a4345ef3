"""A plan: when an endpoint runs next, and the record of how that was decided."""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.instants import from_iso, iso
from cadenza.domain.value import value

_MS = timedelta(milliseconds=1)


class Source(StrEnum):
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


SOURCES = {source.value: source for source in Source}  # faster than the enum's own look-up


@value
class Candidate:
    """A time that was considered; `excluded` says why it could not be chosen."""

    source: Source
    at: datetime
    excluded: str | None = None

    def record(self, instant: Callable[[datetime], object] = iso) -> dict[str, Any]:
        record: dict[str, Any] = {"source": str(self.source), "at": instant(self.at)}
        return record if self.excluded is None else {**record, "excluded": self.excluded}

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Candidate":
        return cls(SOURCES[record["source"]], from_iso(record["at"]), record.get("excluded"))


@value
class Inputs:
    """What the governor looked at, so that a decision can be checked by hand."""

    now: datetime
    after_run: bool
    anchor_at: datetime | None
    last_slot_at: datetime | None
    failure_count: int
    jitter: timedelta
    overrun: bool = False

    def record(self, instant: Callable[[datetime], object] = iso) -> dict[str, Any]:
        record: dict[str, Any] = {"now": instant(self.now), "after_run": self.after_run}
        if self.anchor_at is not None:
            record["anchor_at"] = instant(self.anchor_at)
        if self.last_slot_at is not None:
            record["last_slot_at"] = instant(self.last_slot_at)
        if self.failure_count:
            record["failure_count"] = self.failure_count
        if self.jitter:
            record["jitter_ms"] = self.jitter / _MS
        if self.overrun:
            record["overrun"] = True
        return record

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Inputs":
        return cls(
            now=from_iso(record["now"]),
            after_run=record["after_run"],
            anchor_at=_instant(record.get("anchor_at")),
            last_slot_at=_instant(record.get("last_slot_at")),
            failure_count=record.get("failure_count", 0),
            jitter=record.get("jitter_ms", 0) * _MS,
            overrun=record.get("overrun", False),
        )


@value
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
    session_id: UUID | None = None  # the analysis whose hint or pause decided

    def record(self, instant: Callable[[datetime], object] = iso) -> dict[str, Any]:
        """The plan as JSON, stored with the endpoint and with the run that it led to.

        A missing field means none: no clamps, no jitter, no exclusion. A writer that can write
        instants itself passes its own `instant`. Sources are plain text, for what writes JSON asks
        an enum for its value, and takes longer over that than over all else.
        """
        record: dict[str, Any] = {"source": _text(self.source), "winner": _text(self.winner)}
        record["inputs"] = self.inputs.record(instant)
        if self.next_run_at is not None:
            record["next_run_at"] = instant(self.next_run_at)
        if self.anchor_at is not None:
            record["anchor_at"] = instant(self.anchor_at)
        if self.candidates:
            record["candidates"] = [candidate.record(instant) for candidate in self.candidates]
        if self.clamps:
            record["clamps"] = list(map(str, self.clamps))
        if self.note is not None:
            record["note"] = self.note
        if self.session_id is not None:
            record["session_id"] = str(self.session_id)
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Plan":
        return cls(
            next_run_at=_instant(record.get("next_run_at")),
            source=_source(record["source"]),
            anchor_at=_instant(record.get("anchor_at")),
            winner=_source(record["winner"]),
            clamps=tuple(SOURCES[clamp] for clamp in record.get("clamps", ())),
            note=record.get("note"),
            candidates=tuple(map(Candidate.of, record.get("candidates", ()))),
            inputs=Inputs.of(record["inputs"]),
            session_id=UUID(record["session_id"]) if "session_id" in record else None,
        )


def _instant(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)


def _source(text: str | None) -> Source | None:
    return None if text is None else SOURCES[text]


def _text(source: Source | None) -> str | None:
    return None if source is None else str(source)
