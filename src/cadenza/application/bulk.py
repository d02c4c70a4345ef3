"""One action on many endpoints at once: in one transaction, and each says what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import record_all
from cadenza.application.transitions import person, save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.hint import Author

MOST_ENDPOINTS = 1_000


class BulkAction(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    CLEAR_HINTS = "clear-hints"
    RESET_FAILURES = "reset-failures"


class BulkResult(StrEnum):
    DONE = "done"
    UNCHANGED = "unchanged"  # it was so already
    ARCHIVED = "archived"
    NOT_FOUND = "not-found"


# As the action on a single one is recorded.
_RECORDED_AS = {BulkAction.CLEAR_HINTS: "hints.clear"}


@dataclass(frozen=True, slots=True)
class BulkSteering:
    store: Store
    cron: Cron

    async def act(
        self,
        caller: Caller,
        endpoint_ids: Sequence[UUID],
        action: BulkAction,
        until_at: datetime | None = None,
        reason: str = "",
    ) -> dict[UUID, BulkResult]:
        """By endpoint, in the order that was asked for."""
        wanted = list(dict.fromkeys(endpoint_ids))
        results = dict.fromkeys(wanted, BulkResult.NOT_FOUND)
        pairs: list[tuple[Endpoint, Endpoint]] = []
        async with self.store.transaction() as tx:
            for stored in await tx.lock_own_endpoints(caller.tenant_id, wanted):
                before = stored.endpoint
                if before.archived_at is not None:
                    results[before.id] = BulkResult.ARCHIVED
                    continue
                after = self._after(before, action, until_at, reason, stored.read_at, caller)
                results[before.id] = BulkResult.UNCHANGED if after == before else BulkResult.DONE
                pairs.append((before, after))
            changed = [pair for pair in pairs if pair[0] != pair[1]]
            if changed:
                await save_transitions(tx, changed, person(caller, reason))
                await _record(tx, caller, action, changed, until_at, reason)
        return results

    def _after(
        self,
        endpoint: Endpoint,
        action: BulkAction,
        until_at: datetime | None,
        reason: str,
        now: datetime,
        caller: Caller,
    ) -> Endpoint:
        if action is BulkAction.PAUSE:
            by = (Author.PERSON, reason, now, self.cron)
            return steering.pause(endpoint, until_at, *by, user_id=caller.user_id)
        if action is BulkAction.RESUME:
            return steering.resume(endpoint, Author.PERSON, now, self.cron)
        if action is BulkAction.CLEAR_HINTS:
            return steering.clear_hints(endpoint, Author.PERSON, now, self.cron)
        return steering.reset_failures(endpoint, now, self.cron)


async def _record(
    tx: Transaction,
    caller: Caller,
    action: BulkAction,
    changed: Sequence[tuple[Endpoint, Endpoint]],
    until_at: datetime | None,
    reason: str,
) -> None:
    data: dict[str, Any] = {"together_with": len(changed) - 1}
    if action is BulkAction.PAUSE:
        data |= {"until": str(until_at), "reason": reason}
    name = f"endpoint.{_RECORDED_AS.get(action, action)}"
    await record_all(tx, caller.actor, caller.tenant_id, name, [pair[1] for pair in changed], data)
