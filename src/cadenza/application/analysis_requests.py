"""A person asks for an analysis: it goes before all others, unless limits or credits forbid it."""

from dataclasses import dataclass
from uuid import UUID

from cadenza.application.ports.store import Channel, Store, Transaction
from cadenza.application.quotas import Quotas
from cadenza.application.recording import record
from cadenza.application.session_metering import Payers
from cadenza.application.steering import check_not_archived
from cadenza.domain.access import Caller
from cadenza.domain.billing import check_credits
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import LimitReached
from cadenza.domain.rule import Mode


@dataclass(frozen=True, slots=True)
class AnalysisRequests:
    store: Store
    quotas: Quotas
    payers: Payers
    session_tokens: int  # what a session may use, where its job says nothing else

    async def ask(self, caller: Caller, endpoint_id: UUID) -> None:
        """Request an analysis as soon as possible. Raises LimitReached or InsufficientCredits."""
        job = await self._job_of(caller, endpoint_id)
        may_cost = await self._may_cost(job)
        async with self.store.transaction() as tx:
            endpoint = (await tx.lock_endpoint(caller.tenant_id, endpoint_id)).endpoint
            check_not_archived(endpoint)
            if may_cost:
                await self._check_limits(tx, job)
            await tx.ask_for_analysis(endpoint_id)
            await record(tx, caller.actor, caller.tenant_id, "endpoint.analyse", endpoint)
            await tx.notify(Channel.FINISHED)

    async def _job_of(self, caller: Caller, endpoint_id: UUID) -> Job:
        async with self.store.transaction() as tx:
            endpoint = (await tx.get_endpoint(caller.tenant_id, endpoint_id)).endpoint
            check_not_archived(endpoint)
            return (await tx.share_job(caller.tenant_id, endpoint.job_id)).job

    async def _may_cost(self, job: Job) -> bool:
        """Whether the model may analyse it; an account that pays must have credits."""
        tenant = await self.payers.tenants.get_tenant(job.tenant_id)
        if job.planner.modes(tenant.modes).llm is Mode.OFF:
            return False  # rules cost nothing
        account = await self.payers.account_of(job)
        if account is not None:
            check_credits(account)
        return True

    async def _check_limits(self, tx: Transaction, job: Job) -> None:
        tokens = job.planner.tokens_per_session or self.session_tokens
        over = await self.quotas.check(tx, job, tokens)
        if over is not None:
            raise LimitReached(str(over))
