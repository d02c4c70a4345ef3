"""What came of a look beside what should have: judged by effects, never by words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.hint import Author, Hint
from cadenza.domain.instants import humanize
from cadenza.domain.session import IDLE_TOOLS, SessionEnd, ToolCall
from cadenza.replay.evaluation.scenario import LOOKED_AT, ExpectationDocument, RangeDocument
from cadenza.replay.evaluation.trial import Trial


@dataclass(frozen=True, slots=True)
class Verdict:
    name: str
    expected: str
    did: str
    failures: tuple[str, ...]  # nothing: it passed
    tokens: int = 0
    cost: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.failures


def verdict_of(trial: Trial) -> Verdict:
    session, expectations = trial.session, trial.scenario.document.expect
    failures = [failure for wanted in expectations for failure in _failures(wanted, trial)]
    if session.end is not SessionEnd.SUBMITTED:
        why = "; ".join(session.warnings)
        failures.insert(0, f"the session ended as {session.end}" + (f": {why}" if why else ""))
    expected = "; ".join(dict.fromkeys(wanted.says for wanted in expectations))
    name = trial.scenario.name
    return Verdict(name, expected, _did(trial), tuple(failures), session.tokens, session.cost)


def _failures(wanted: ExpectationDocument, trial: Trial) -> Iterator[str]:
    name = wanted.endpoint or trial.scenario.document.look_at
    before, after = trial.before[name], trial.after[name]
    if wanted.no_change_tried:
        tried = [call.tool for call in trial.session.tool_calls if call.tool not in IDLE_TOOLS]
        yield from (f"{tool} was called" for tool in tried)
    if wanted.untouched and _planned(before) != _planned(after):
        yield f"{name} was changed"
    if wanted.hints == "none" and any(_hints(after)):
        yield f"{name} still has a hint"
    if wanted.interval is not None:
        hint = after.interval_hint
        interval = hint.interval if hint is not None and _is_planners(after) else None
        yield from _outside(f"the interval of {name}", interval, wanted.interval)
    if wanted.expires_in is not None:
        expiries = [hint.expires_at - LOOKED_AT for hint in _hints(after) if hint is not None]
        latest = max(expiries, default=None)
        yield from _outside(f"the expiry of {name}'s hint", latest, wanted.expires_in)
    if wanted.paused_for is not None:
        pause = after.planner_pause
        length = pause.until_at - LOOKED_AT if pause is not None else None
        yield from _outside(f"the pause of {name}", length, wanted.paused_for)
    if wanted.runs is not None:
        runs = [at for at in trial.runs[name] if at <= LOOKED_AT + wanted.runs.within]
        if not wanted.runs.at_least <= len(runs) <= wanted.runs.at_most:
            yield f"{name} ran {len(runs)} times within {humanize(wanted.runs.within)}"
    if wanted.next_look_in is not None:
        next_at = trial.session.next_analysis_at
        length = next_at - LOOKED_AT if next_at is not None else None
        yield from _outside("the next look", length, wanted.next_look_in)


def _outside(what: str, value: timedelta | None, wanted: RangeDocument) -> Iterator[str]:
    if value is None:
        yield f"{what}: there is none"
    elif value < wanted.at_least:
        yield f"{what}: {humanize(value)} is less than {humanize(wanted.at_least)}"
    elif value > wanted.at_most:
        yield f"{what}: {humanize(value)} is more than {humanize(wanted.at_most)}"


def _hints(endpoint: Endpoint) -> tuple[Hint | None, Hint | None]:
    return endpoint.interval_hint, endpoint.one_shot_hint


def _planned(endpoint: Endpoint) -> tuple[object, ...]:
    return (*_hints(endpoint), endpoint.planner_pause)


def _is_planners(endpoint: Endpoint) -> bool:
    hint = endpoint.interval_hint
    return hint is not None and hint.author is Author.PLANNER and hint.brain == "llm"


def _did(trial: Trial) -> str:
    """What it called beside reading, and what became of that."""
    session = trial.session
    actions = [_action(call) for call in session.tool_calls if call.tool not in IDLE_TOOLS]
    next_at = session.next_analysis_at
    again = f"looks again in {humanize(next_at - LOOKED_AT)}" if next_at is not None else ""
    return "; ".join(filter(None, [*(actions or ["nothing"]), again]))


def _action(call: ToolCall) -> str:
    written = call.arguments  # whatever the model sent
    arguments = cast("dict[str, Any]", written) if isinstance(written, dict) else {}
    wish = ("interval_ms", "next_run_in_ms", "next_run_at_iso", "until_iso", "ttl_minutes")
    values = [f"{name} {arguments[name]}" for name in wish if name in arguments]
    words = [call.tool, str(arguments.get("endpoint", "")), ", ".join(values)]
    words.append("" if call.took_effect else "(no effect)")
    return " ".join(filter(None, words))
