"""Sessions and looks between rows and values."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cadenza.adapters.postgres.rows import to_json, to_text
from cadenza.domain.analysis import Waiting
from cadenza.domain.instants import from_iso, iso, iso_or_none, latest, milliseconds
from cadenza.domain.session import Session, ToolCall

# A hint acts until it expires; the run it chose may have its slot a little later.
_AFTERWARDS = timedelta(hours=1)


def analysis_values(session: Session) -> tuple[Any, ...]:
    """One look, in the order of record_analyses."""
    fired = dict.fromkeys(map(to_text, session.fired), iso(session.started_at))
    return (
        session.endpoint_id,
        session.kind,
        session.started_at,
        session.next_analysis_at,
        to_text(session.reasoning),
        0 if session.worth_keeping else 1,
        to_json(fired),
    )


def session_values(session: Session) -> tuple[Any, ...]:
    """One session, in the order of add_session."""
    return (
        session.id,
        session.tenant_id,
        session.job_id,
        session.endpoint_id,
        session.brain,
        session.started_at,
        milliseconds(session.duration),
        session.end,
        to_json([_call(each) for each in session.tool_calls]),
        to_text(session.reasoning),
        session.confidence,
        session.tokens,
        session.cost,
        [to_text(warning) for warning in session.warnings],
        session.next_analysis_at,
        session.prompt_version,
        session.suggests_until,
        acts_until(*session.tool_calls),
    )


def acts_until(*calls: ToolCall) -> datetime | None:
    """How long what they wrote can choose the slot of a run."""
    ends = (call.holds_until for call in calls if call.took_effect or call.suggested)
    end = latest(*ends)
    return end + _AFTERWARDS if end is not None else None


def _call(call: ToolCall) -> dict[str, Any]:
    told = {
        "tool": call.tool,
        "arguments": call.arguments,
        "result": call.result,
        "took_effect": call.took_effect,
    }
    if call.suggested:
        told |= {"suggested": True, "open_until": iso_or_none(call.holds_until)}
    return told


def call_of(told: dict[str, Any]) -> ToolCall:
    open_until = told.get("open_until")
    return ToolCall(
        told["tool"],
        told["arguments"],
        told["result"],
        told["took_effect"],
        told.get("suggested", False),
        from_iso(open_until) if open_until is not None else None,
        told.get("accepted_by"),
    )


def events_of(sessions: Sequence[Session]) -> Iterator[tuple[Any, ...]]:
    """What those who follow the planner hear, in the order of add_event."""
    for session in sessions:
        done = {
            "planner.acted": [call.tool for call in session.tool_calls if call.took_effect],
            "planner.suggested": [call.tool for call in session.tool_calls if call.suggested],
        }
        for kind, tools in done.items():
            if tools:
                told = {"session_id": str(session.id), "brain": session.brain, "tools": tools}
                ids = (session.job_id, session.endpoint_id)
                yield session.tenant_id, kind, *ids, to_json(told)


def fired_of(text: str | None) -> Mapping[str, datetime]:
    stored: dict[str, str] = json.loads(text) if text is not None else {}
    return {name: from_iso(at) for name, at in stored.items()}


def waiting_of(text: str | None) -> tuple[Waiting, ...]:
    stored: list[dict[str, Any]] = json.loads(text) if text is not None else []
    return tuple(Waiting(each["tool"], each["arguments"]) for each in stored)
