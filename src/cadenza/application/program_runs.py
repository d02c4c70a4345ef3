"""What a process of a program claims: the runs of those functions that it has registered.

Processes of one program may differ, as they do while a new version is rolled out. A claim of a
function that is not here is given back at once, for a process that has it, and its like is passed
over from then on.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from cadenza.application.ports.claims import (
    ClaimBatch,
    ClaimRequest,
    FinishReport,
    Renewal,
    RunQueue,
)
from cadenza.domain.claiming import TenantHost
from cadenza.domain.run import Claim, FinishedRun


class ProgramRuns:
    """The RunQueue of a program, by the hosts of its functions (see FunctionTarget)."""

    def __init__(self, queue: RunQueue[Claim, FinishedRun], hosts: Collection[str]) -> None:
        self._queue = queue
        self._hosts = hosts
        self._foreign: dict[TenantHost, int] = {}

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[Claim]:
        batch = await self._queue.claim_due(self._passing_over(request))
        return replace(batch, claims=await self._ours(batch.claims, request.per_host))

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        claims = await self._queue.claim_lost(self._passing_over(request))
        return await self._ours(claims, request.per_host)

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        return await self._queue.renew(claims, lease)

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        return await self._queue.finish(finished)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        await self._queue.give_back(claims)

    def _passing_over(self, request: ClaimRequest) -> ClaimRequest:
        """A host that has no room is passed over: so is one that is not here."""
        if not self._foreign:
            return request
        return replace(request, busy_hosts={**request.busy_hosts, **self._foreign})

    async def _ours(self, claims: Sequence[Claim], full: int) -> Sequence[Claim]:
        foreign = [claim for claim in claims if claim.host not in self._hosts]
        if not foreign:
            return claims
        self._foreign |= {(claim.tenant_id, claim.host): full for claim in foreign}
        await self._queue.give_back(foreign)
        return [claim for claim in claims if claim.host in self._hosts]
