"""One action on many endpoints in one transaction, with a result for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.application.ports.catalogue import EndpointReads, EndpointSearch, JobReads
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import record_all
from cadenza.application.transitions import person, save_transitions
from cadenza.domain import steering
from cadenza.domain.access import Caller
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InvalidInput, Outdated
from cadenza.domain.hint import Author

MOST_ENDPOINTS = 1_000
MOST_MATCHES = 10_000


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
    endpoints: EndpointReads
    jobs: JobReads
    cron: Cron

    async def count_matches(self, caller: Caller, search: EndpointSearch) -> int:
        """How many endpoints match, counted up to one more than may be changed at once."""
        return len(await self._matches(caller, search))

    async def act_on_matches(
        self,
        caller: Caller,
        search: EndpointSearch,
        action: BulkAction,
        expected: int,
        until_at: datetime | None = None,
        reason: str = "",
    ) -> list[BulkResult]:
        """Act on all that match now, in transactions of a thousand. Raises Outdated where more
        match than the caller has seen."""
        ids = await self._matches(caller, search)
        if len(ids) > MOST_MATCHES:
            fix = f"a narrower filter: more than {MOST_MATCHES:,} endpoints match"
            raise InvalidInput("search", search.search or "", fix)
        if len(ids) > expected:
            raise Outdated(f"{len(ids):,} match now, and {expected:,} were confirmed: look again")
        results: list[BulkResult] = []
        for first in range(0, len(ids), MOST_ENDPOINTS):
            some = ids[first : first + MOST_ENDPOINTS]
            results += (await self.act(caller, some, action, until_at, reason)).values()
        return results

    async def _matches(self, caller: Caller, search: EndpointSearch) -> Sequence[UUID]:
        """NotFound where the tenant has no such job."""
        if search.job_id is not None:
            await self.jobs.get_job(caller.tenant_id, search.job_id)
        return await self.endpoints.matching_ids(caller.tenant_id, search, MOST_MATCHES + 1)

    async def act(
        self,
        caller: Caller,
        endpoint_ids: Sequence[UUID],
        action: BulkAction,
        until_at: datetime | None = None,
        reason: str = "",
    ) -> dict[UUID, BulkResult]:
        """The results are in the order of the ids that were sent."""
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
