"""What planners keep, between rows and values: sessions, their calls, and states."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import to_json, to_text
from cadenza.domain.analysis import AnalysisReason, Waiting
from cadenza.domain.billing import TokenUsage
from cadenza.domain.instants import from_iso, iso, iso_or_none, latest, milliseconds
from cadenza.domain.session import Session, SessionEnd, ToolCall

# A hint acts until it expires; the run it chose may have its slot a little later.
_AFTERWARDS = timedelta(hours=1)


def state_values(session: Session) -> tuple[Any, ...]:
    """What is remembered of an endpoint, in the order of save_analysis_states."""
    return (
        session.endpoint_id,
        session.kind,
        session.started_at,
        session.next_analysis_at,
        to_text(session.reasoning),
        int(not session.worth_keeping),
        to_json({str(rule_id): iso(session.started_at) for rule_id in session.fired}),
        to_json([str(rule_id) for rule_id in session.forgotten]),
        session.reason,
        session.failed_looks,
        to_text(session.trouble),
        None if session.memory is None else to_json(session.memory),
    )


def session_values(session: Session) -> tuple[Any, ...]:
    """One session, in the order of insert_session."""
    return (
        session.id,
        session.tenant_id,
        session.job_id,
        session.endpoint_id,
        session.brain,
        session.started_at,
        milliseconds(session.duration),
        session.end,
        to_json([_stored_call(call) for call in session.tool_calls]),
        to_text(session.reasoning),
        session.confidence,
        session.tokens,
        session.cost,
        [to_text(warning) for warning in session.warnings],
        session.next_analysis_at,
        session.prompt_version,
        session.suggests_until,
        acts_until(*session.tool_calls),
        to_text(session.refusal) if session.refusal is not None else None,
        session.reason,
        session.usage.input_tokens,
        session.usage.cache_read_tokens,
        session.usage.output_tokens,
        session.account_id,
    )


def session_of(row: Row) -> Session:
    return Session(
        id=row["id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        endpoint_id=row["endpoint_id"],
        brain=row["brain"],
        started_at=row["started_at"],
        duration=timedelta(milliseconds=row["duration_ms"]),
        end=SessionEnd(row["ended_as"]),
        tool_calls=tuple(_call(stored) for stored in json.loads(row["tool_calls"])),
        reasoning=row["reasoning"],
        confidence=row["confidence"],
        tokens=row["tokens"],
        cost=row["cost"],
        warnings=tuple(row["warnings"]),
        next_analysis_at=row["next_analysis_at"],
        repeats=row["repeats"],
        last_at=row["last_at"],
        prompt_version=row["prompt_version"],
        reason=AnalysisReason(row["reason"]) if row["reason"] is not None else None,
        usage=TokenUsage(row["input_tokens"], row["output_tokens"], row["cached_tokens"]),
        account_id=row["account_id"],
    )


def acts_until(*calls: ToolCall) -> datetime | None:
    """How long what they wrote can choose the slot of a run."""
    ends = (call.holds_until for call in calls if call.took_effect or call.suggested)
    end = latest(*ends)
    return end + _AFTERWARDS if end is not None else None


def _stored_call(call: ToolCall) -> dict[str, Any]:
    stored = {
        "tool": call.tool,
        "arguments": call.arguments,
        "result": call.result,
        "took_effect": call.took_effect,
    }
    if call.rule_id is not None:
        stored["rule_id"] = str(call.rule_id)
    if call.refusal is not None:
        stored["refusal"] = call.refusal
    if call.suggested:
        stored |= {"suggested": True, "open_until": iso_or_none(call.holds_until)}
    return stored


def _call(stored: dict[str, Any]) -> ToolCall:
    open_until, rule_id = stored.get("open_until"), stored.get("rule_id")
    return ToolCall(
        stored["tool"],
        stored["arguments"],
        stored["result"],
        stored["took_effect"],
        stored.get("suggested", False),
        from_iso(open_until) if open_until is not None else None,
        stored.get("accepted_by"),
        UUID(rule_id) if rule_id is not None else None,
        refusal=stored.get("refusal"),
        dismissed_by=stored.get("dismissed_by"),
    )


def fired_of(text: str | None) -> Mapping[UUID, datetime]:
    stored: dict[str, str] = json.loads(text) if text is not None else {}
    return {UUID(rule_id): from_iso(at) for rule_id, at in stored.items()}


def waiting_of(text: str | None) -> tuple[Waiting, ...]:
    stored: list[dict[str, Any]] = json.loads(text) if text is not None else []
    return tuple(Waiting(call["tool"], call["arguments"]) for call in stored)
