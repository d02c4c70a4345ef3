"""What is kept of analyses: the state of each endpoint, the sessions worth it, their events."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from cadenza.application.ports.store import Store, Transaction
from cadenza.domain.audit import PendingEvent
from cadenza.domain.errors import NotFound
from cadenza.domain.session import Session

COUNTED_WITHIN = timedelta(days=1)


async def record_analyses(store: Store, sessions: Sequence[Session], holder: str) -> None:
    """Sessions of endpoints that were deleted meanwhile are gone with them."""
    try:
        await _record(store, sessions, holder)
    except NotFound:
        await _record(store, sessions, holder)  # one of them was deleted at just this moment


async def _record(store: Store, sessions: Sequence[Session], holder: str) -> None:
    async with store.transaction() as tx:
        present = await tx.save_analysis_states(sessions, holder)
        worth_keeping = [session for session in sessions if session.worth_keeping]
        stored = [session for session in worth_keeping if session.endpoint_id in present]
        stored = [session for session in stored if not await _is_counted(tx, session)]
        if stored:
            await tx.insert_sessions(stored)
            if events := [event for session in stored for event in _events(session)]:
                await tx.add_events(events)


async def _is_counted(tx: Transaction, session: Session) -> bool:
    """Whether the same was refused before, and is counted there."""
    if session.refusal is None:
        return False
    return await tx.count_refusal(session, session.started_at - COUNTED_WITHIN)


def _events(session: Session) -> Iterator[PendingEvent]:
    tools_by_kind = {
        "planner.acted": [call.tool for call in session.tool_calls if call.took_effect],
        "planner.suggested": [call.tool for call in session.tool_calls if call.suggested],
    }
    for kind, tools in tools_by_kind.items():
        if tools:
            ids = (session.tenant_id, session.job_id, session.endpoint_id)
            data = {"session_id": str(session.id), "brain": session.brain, "tools": tools}
            yield PendingEvent(kind, *ids, data)
