"""A run that is under way in a store in memory, and waits for its result."""

from itertools import count
from typing import Any

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.system.clock import SystemClock
from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.store import Channel
from cadenza.application.result_waiting import WaitingResults
from cadenza.application.run_results import RunResults
from cadenza.domain.endpoint import Job
from cadenza.domain.result import Report
from cadenza.domain.run import Claim, RunStatus
from cadenza.domain.target import Target
from tests.adapters.postgres.support import until
from tests.direct import Direct
from tests.factories import CRON, make_endpoint, seconds


class ResultDesk:
    def __init__(self) -> None:
        self.memory = MemoryStores(Tables(SystemClock(), new_id))
        numbers = count(1)
        self.reported = RunResults(self.memory.store, lambda: f"secret-{next(numbers)}")
        self.waiting = WaitingResults(self.reported, self.memory.results, SystemClock())
        self.memory.tables.listen(Channel.RESULTS, self.waiting.wake)

    async def claim(self, target: Target, name: str = "orders") -> Claim:
        """Of an endpoint that is due."""
        direct = Direct(self.memory.store, CRON)
        endpoint = make_endpoint(name)
        await direct.add_tenant(endpoint.tenant_id)
        await direct.add_job(Job(endpoint.job_id, endpoint.tenant_id, "job"))
        await direct.add_endpoint(endpoint, target)
        request = ClaimRequest("worker", 1, seconds(60))
        (claim,) = (await self.memory.claims.claim_due(request)).claims
        return claim

    async def report(
        self, claim: Claim, token: str, status: str = "success", body: Any = None
    ) -> None:
        await self.reported.report(claim.run_id, token, Report(RunStatus(status), body))

    async def until_waiting(self, claim: Claim) -> None:
        await until(lambda: claim.run_id in self.waiting._waiting)
