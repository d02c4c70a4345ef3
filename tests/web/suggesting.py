"""A session that suggested something which a person can accept now."""

from typing import Any
from uuid import UUID, uuid4

from cadenza.application.sessions import record_analyses
from cadenza.domain.session import Session, SessionEnd, ToolCall
from tests.factories import minutes, seconds
from tests.web.support import House, Site


async def suggest_interval(site: Site, house: House, endpoint: dict[str, Any]) -> Session:
    now = await site.now()
    asked = {"interval_ms": 60_000, "ttl_minutes": 30, "reason": "visitors come"}
    call = ToolCall(
        "propose_interval", asked, {"ok": True}, suggested=True, holds_until=now + minutes(30)
    )
    session = Session(
        id=uuid4(),
        tenant_id=house.tenant_id,
        job_id=UUID(endpoint["job_id"]),
        endpoint_id=UUID(endpoint["id"]),
        brain="rules",
        started_at=now,
        duration=seconds(1),
        end=SessionEnd.SUBMITTED,
        tool_calls=(call,),
        reasoning="visitors come",
    )
    await record_analyses(site.backend.store, [session], "test")
    return session
