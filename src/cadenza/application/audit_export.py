"""Export of the whole audit log, page by page, with bounded memory."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

from cadenza.application.ports.records import AuditRecord, AuditSearch, Records
from cadenza.application.ports.store import Store
from cadenza.application.recording import record
from cadenza.domain.access import Caller
from cadenza.domain.instants import iso_or_none

PAGE = 500


async def exported_pages(
    store: Store, records: Records, caller: Caller, search: AuditSearch, form: str
) -> AsyncGenerator[Sequence[AuditRecord]]:
    """Newest first. The export itself is an audit entry."""
    data: dict[str, Any] = {
        "format": form,
        "from": iso_or_none(search.from_at),
        "to": iso_or_none(search.to_at),
        "actor": search.actor,
        "action": search.action,
    }
    async with store.transaction() as tx:
        await record(tx, caller.actor, caller.tenant_id, "audit.export", "audit", data)
    wanted = replace(search, limit=PAGE)
    while True:
        page = await records.search_audit(caller.tenant_id, wanted)
        yield page.items
        if page.reached is None:
            return
        wanted = replace(wanted, after=page.reached)
