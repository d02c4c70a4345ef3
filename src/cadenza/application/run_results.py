"""Results of runs, reported by whoever did the work: with the token that came with it."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from cadenza.application.ports.store import Channel, Store
from cadenza.domain.access import hash_of
from cadenza.domain.result import AwaitedResult, Report, accepted, reported
from cadenza.domain.run import Claim

PREFIX = "cdzr_"


@dataclass(frozen=True, slots=True)
class RunResults:
    store: Store
    new_secret: Callable[[], str]

    async def expect(self, claim: Claim) -> tuple[str, Report | None]:
        """A token for this attempt; and what was reported to an earlier one."""
        token = f"{PREFIX}{self.new_secret()}"
        ids = (claim.run_id, claim.attempt, claim.tenant_id, claim.endpoint_id)
        async with self.store.transaction() as tx:
            attempts, _ = await tx.lock_awaited(claim.run_id)
            if (report := reported(attempts)) is None:
                await tx.insert_awaited(AwaitedResult(*ids, hash_of(token)))
        return token, report

    async def report(self, run_id: UUID, token: str, report: Report) -> None:
        """NotFound for a token that is none of the run's, whether there is a run or not."""
        async with self.store.transaction() as tx:
            attempts, is_running = await tx.lock_awaited(run_id)
            awaited = accepted(attempts, hash_of(token), report, is_running=is_running)
            if awaited is not None:
                await tx.save_report(awaited, report)
                await tx.notify(Channel.RESULTS)

    async def close(self, run_id: UUID) -> Report | None:
        """From here on no report is accepted; what was reported until then."""
        async with self.store.transaction() as tx:
            attempts, _ = await tx.lock_awaited(run_id)
            await tx.close_awaited(run_id)
        return reported(attempts)
