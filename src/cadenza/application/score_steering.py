"""What bent the lanes of a score: windows with their authors, and the flags of who did it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from cadenza.application.ports.steering_history import NamedEntry
from cadenza.domain.authority import Authority, authority_of
from cadenza.domain.hint import Author
from cadenza.domain.instants import FOREVER, humanize
from cadenza.domain.score import SteeredBy
from cadenza.domain.session import Session, ToolCall
from cadenza.domain.steering_history import Advice, SteeringEnd, SteeringEntry, SteeringKind

LONGEST_TEXT = 200
_STEERED_BY = {
    Authority.PERSON: SteeredBy.PERSON,
    Authority.RULE: SteeredBy.RULE,
    Authority.MODEL: SteeredBy.MODEL,
    Authority.DETECTOR: SteeredBy.DETECTOR,
}
_TOOL_KINDS = {
    "propose_interval": "interval",
    "propose_next_time": "once",
    "pause_until": "pause",
    "clear_hints": "clear",
}
RuleNames = Mapping[UUID, str]


@dataclass(frozen=True, slots=True)
class Window:
    entry: SteeringEntry
    kind: str  # interval, once, pause or job-pause
    ended_as: str
    steered_by: SteeredBy
    author_name: str | None  # of the person or the rule

    @property
    def bends(self) -> str | None:
        tightens = self.entry.advice.tightens
        if self.entry.kind is not SteeringKind.INTERVAL:
            return None
        return "relaxed" if tightens is False else "tightened"


@dataclass(frozen=True, slots=True)
class Flag:
    at: datetime
    by: Author
    name: str | None  # of the person or the rule, else the brain
    kind: str
    text: str
    session_id: UUID | None = None
    rule: str | None = None


def steered_by(author: Author, brain: str | None, rule_id: UUID | None) -> SteeredBy:
    return _STEERED_BY[authority_of(author, brain, rule_id)]


def window_of(named: NamedEntry, rules: RuleNames, now: datetime) -> Window:
    entry, advice = named.entry, named.entry.advice
    by = steered_by(advice.author, advice.brain, advice.rule_id)
    name = named.user_name if by is SteeredBy.PERSON else _rule(advice.rule_id, rules)
    return Window(entry, _kind(entry), entry.ending(now), by, name)


def flags_of(named: NamedEntry, rules: RuleNames) -> Iterator[Flag]:
    """Where it was begun, and where somebody ended it: not where it expired or was replaced."""
    entry, advice = named.entry, named.entry.advice
    rule = _rule(advice.rule_id, rules)
    name = named.user_name if advice.author is Author.PERSON else rule or advice.brain
    who = (advice.author, name, _kind(entry))
    yield Flag(entry.begun_at, *who, describe(entry), advice.session_id, rule)
    if entry.ended_as is SteeringEnd.CLEARED and entry.ended_by is not None:
        kind = "clear" if entry.kind in (SteeringKind.INTERVAL, SteeringKind.ONCE) else "resume"
        text = "hints cleared" if kind == "clear" else "resumed"
        by = entry.ended_by
        yield Flag(entry.until_at, by.author, named.ended_by_name, kind, text, by.session_id)


def suggestion_flag(session: Session, rules: RuleNames) -> Flag | None:
    call = next((call for call in session.tool_calls if call.suggested), None)
    if call is None:
        return None
    rule = _rule(call.rule_id, rules)
    text = _cut(f"suggests: {_described_call(call) or session.reasoning}")
    who = (Author.PLANNER, rule or session.kind, "suggested")
    return Flag(session.started_at, *who, text, session.id, rule)


def describe(entry: SteeringEntry) -> str:
    """`every 30 s for 1 h: visitors doubled`."""
    advice, wish = entry.advice, "paused"
    if advice.interval is not None:
        wish = f"every {humanize(advice.interval)}"
    elif entry.kind is SteeringKind.ONCE:
        wish = "once"
    elif entry.kind is SteeringKind.JOB_PAUSE:
        wish = "job paused"
    return _cut(f"{wish}{_length(entry, advice)}{f': {advice.reason}' if advice.reason else ''}")


def _length(entry: SteeringEntry, advice: Advice) -> str:
    end_at = entry.planned_until_at or advice.until_at
    if entry.kind is SteeringKind.ONCE:
        return ""
    if end_at >= FOREVER:
        return " until resumed"
    seconds = round((end_at - entry.begun_at).total_seconds())
    if seconds >= 600:  # a renewal leaves odd seconds, which nobody wants to read
        seconds = round(seconds / 60) * 60
    minutes, rest = divmod(seconds, 60)
    if rest and seconds > 120:
        return f" for {minutes} min {rest} s"
    return f" for {humanize(timedelta(seconds=seconds))}"


def _described_call(call: ToolCall) -> str:
    is_object = isinstance(call.arguments, dict)
    reason = cast("dict[str, Any]", call.arguments).get("reason") if is_object else None
    kind = _TOOL_KINDS.get(call.tool, call.tool)
    return f"{kind}: {reason}" if reason else kind


def _kind(entry: SteeringEntry) -> str:
    is_own_pause = entry.kind in (SteeringKind.PERSON_PAUSE, SteeringKind.PLANNER_PAUSE)
    return "pause" if is_own_pause else entry.kind


def _rule(rule_id: UUID | None, rules: RuleNames) -> str | None:
    return rules.get(rule_id) if rule_id is not None else None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def reason_at(windows: Sequence[Window], slot_at: datetime, kind: str) -> str | None:
    """Why a run came when it did: of the last window of this kind that had begun by then."""
    reasons = (
        window.entry.advice.reason
        for window in reversed(windows)
        if window.kind == kind and window.entry.begun_at <= slot_at
    )
    return next((reason[:LONGEST_TEXT] for reason in reasons if reason), None)
