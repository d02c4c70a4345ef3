"""What is kept of analyses: the state of each endpoint, the sessions worth it, their events."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from cadenza.application.ports.store import Store, Transaction
from cadenza.domain.audit import PendingEvent
from cadenza.domain.errors import NotFound
from cadenza.domain.instants import iso_or_none
from cadenza.domain.session import Session

COUNTED_WITHIN = timedelta(days=1)


async def record_analyses(
    store: Store, sessions: Sequence[Session], holder: str, events: Sequence[PendingEvent] = ()
) -> None:
    """Sessions of endpoints that were deleted meanwhile are gone with them."""
    try:
        await _record(store, sessions, holder, events)
    except NotFound:
        await _record(store, sessions, holder, events)  # one was deleted at just this moment


async def _record(
    store: Store, sessions: Sequence[Session], holder: str, others: Sequence[PendingEvent]
) -> None:
    async with store.transaction() as tx:
        present = await tx.save_analysis_states(sessions, holder)
        worth_keeping = [session for session in sessions if session.worth_keeping]
        stored = [session for session in worth_keeping if session.endpoint_id in present]
        stored = [session for session in stored if not await _is_counted(tx, session)]
        if stored:
            await tx.insert_sessions(stored)
        if events := [*others, *(event for session in stored for event in _events(session))]:
            await tx.add_events(events)


async def record_skipped(store: Store, session: Session) -> bool:
    """A session that could not be held is recorded once, and again when the reason is another."""
    async with store.transaction() as tx:
        is_news = await tx.note_skipped(session)
        if is_news:
            await tx.insert_sessions([session])
            await tx.add_events([_event(session, "session.skipped", reason=session.trouble)])
    return is_news


async def _is_counted(tx: Transaction, session: Session) -> bool:
    """Whether the same was refused before, and is counted there."""
    if session.refusal is None:
        return False
    return await tx.count_refusal(session, session.started_at - COUNTED_WITHIN)


def _events(session: Session) -> Iterator[PendingEvent]:
    calls_by_kind = {
        "planner.acted": [call for call in session.tool_calls if call.took_effect],
        "planner.suggested": [call for call in session.tool_calls if call.suggested],
    }
    for kind, calls in calls_by_kind.items():
        if calls:
            actions = [{"tool": call.tool, "arguments": call.arguments} for call in calls]
            yield _event(session, kind, tools=[call.tool for call in calls], actions=actions)
    if session.is_news_of_failure:
        yield _event(
            session,
            "session.failed",
            reason=session.trouble,
            in_a_row=session.failed_looks,
            next_analysis_at=iso_or_none(session.next_analysis_at),
            **_of_a_model(session),
        )
    elif session.tokens:
        yield _event(session, "session.ended", **_of_a_model(session))


def _of_a_model(session: Session) -> dict[str, Any]:
    """Why it was asked, how, and what that cost; nothing where no model was."""
    if not session.tokens:
        return {}
    return {
        "look": session.reason,
        "prompt_version": session.prompt_version,
        "tokens": session.tokens,
        "input_tokens": session.usage.input_tokens,
        "cached_tokens": session.usage.cache_read_tokens,
        "output_tokens": session.usage.output_tokens,
        "cost": session.cost,
    }


def _event(session: Session, kind: str, **data: Any) -> PendingEvent:
    ids = (session.tenant_id, session.job_id, session.endpoint_id)
    return PendingEvent(kind, *ids, {"session_id": str(session.id), "brain": session.brain, **data})
