"""Quotas of analysis: reserved before a session, settled after it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.catalogue import JobReads
from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.ports.usage import UsageReads
from cadenza.domain.audit import PendingEvent
from cadenza.domain.endpoint import Job
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.quota import (
    NO_LIMITS,
    Allowance,
    Limits,
    OverLimit,
    Period,
    PlannerLimits,
    QuotaWarning,
    day_of,
    month_of,
    over_limit,
    warnings_of,
)

# No session lasts a day: what was set aside for longer belongs to a planner that died.
LOST_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Quotas:
    store: Store
    new_id: Callable[[], UUID]
    per_month: Limits = NO_LIMITS  # of a tenant
    per_day: Limits = NO_LIMITS  # of a job that says nothing else

    async def reserve(self, job: Job, tokens: int, cost: float = 0.0) -> Reservation | OverLimit:
        """Reserve tokens and money for a session, or return the limit that forbids it."""
        async with self.store.transaction() as tx:
            now = await tx.time()
            for lost in await tx.take_old_reservations(job.tenant_id, now - LOST_AFTER):
                await _settle(tx, lost, used=0, cost=0.0)
            allowances = await self._lock(tx, job, now)
            for period, allowance in allowances:
                over = over_limit(period, allowance, tokens, cost)
                if over is not None:
                    await _note_refusal(tx, period, allowance, over, now)
                    return over
            for period, allowance in allowances:
                reserved = allowance.reserved_for(tokens, cost)
                await tx.save_allowance(period, replace(reserved, refused_at=None))
            ids = (self.new_id(), job.tenant_id, month_of(now))
            reservation = Reservation(*ids, tokens, cost, job.id, day_of(now))
            await tx.insert_reservation(reservation)
        return reservation

    async def check(
        self, tx: Transaction, job: Job, tokens: int, cost: float = 0.0
    ) -> OverLimit | None:
        """The limit that a session would meet now; nothing is reserved."""
        allowances = await self._lock(tx, job, await tx.time())
        overs = (over_limit(*of_period, tokens, cost) for of_period in allowances)
        return next((over for over in overs if over is not None), None)

    async def _lock(
        self, tx: Transaction, job: Job, now: datetime
    ) -> list[tuple[Period, Allowance]]:
        return [
            (period, (await tx.lock_allowance(period)).within(limits))
            for period, limits in self._periods(job, now)
        ]

    def _periods(self, job: Job, now: datetime) -> Iterator[tuple[Period, Limits]]:
        """In the order in which they are locked everywhere."""
        yield Period(job.tenant_id, month_of(now)), self.per_month
        yield Period(job.tenant_id, day_of(now), job.id), per_day_of(job.planner, self.per_day)

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        """Turn the reservation into what was used; settling again changes nothing."""
        async with self.store.transaction() as tx:
            taken = await tx.take_reservation(reservation.id)
            warnings = await _settle(tx, taken, used, cost) if taken is not None else []
            if warnings:
                events = [_event(reservation.tenant_id, warning) for warning in warnings]
                await tx.add_events(events)
        return warnings


@dataclass(frozen=True, slots=True)
class QuotaReads:
    """The remaining quotas, by the limits in force."""

    usage: UsageReads
    jobs: JobReads
    limits: PlannerLimits

    async def of_tenant(self, tenant_id: UUID) -> tuple[str, Allowance]:
        """The current month, and the remaining quota."""
        month, allowance = await self.usage.quota(tenant_id)
        return month, allowance.within(self.limits.per_month)

    async def of_job(self, tenant_id: UUID, job_id: UUID) -> tuple[str, Allowance]:
        """The current day, and the remaining quota; NotFound where there is no such job."""
        job = (await self.jobs.get_job(tenant_id, job_id)).job
        return (await self.of_jobs(tenant_id, [job]))[job_id]

    async def of_jobs(
        self, tenant_id: UUID, jobs: Sequence[Job]
    ) -> Mapping[UUID, tuple[str, Allowance]]:
        """The current day, and the remaining quota of each job."""
        quotas = await self.usage.quotas_of_jobs(tenant_id, [job.id for job in jobs])
        limits = {job.id: per_day_of(job.planner, self.limits.per_day) for job in jobs}
        return {
            job_id: (day, allowance.within(limits[job_id]))
            for job_id, (day, allowance) in quotas.items()
        }


def per_day_of(policy: PlannerPolicy, otherwise: Limits) -> Limits:
    return otherwise.overridden(policy.tokens_per_day, policy.money_per_day)


async def _note_refusal(
    tx: Transaction, period: Period, allowance: Allowance, over: OverLimit, now: datetime
) -> None:
    """Adds an event for the first refusal only, until a session is possible again."""
    if allowance.refused_at is None:
        data = {"limit_name": over.limit_name, "period": over.period, "detail": str(over)}
        event = PendingEvent("quota.refused", period.tenant_id, period.job_id, None, data)
        await tx.add_events([event])
    await tx.save_allowance(period, replace(allowance, refused_at=allowance.refused_at or now))


async def _settle(
    tx: Transaction, reservation: Reservation, used: int, cost: float
) -> list[QuotaWarning]:
    warnings: list[QuotaWarning] = []
    for period in reservation.periods:
        allowance = await tx.lock_allowance(period)
        settled = allowance.settle(reservation.tokens, used, reservation.cost, cost)
        await tx.save_allowance(period, settled)
        warnings += warnings_of(period, settled, used, cost)
    return warnings


def _event(tenant_id: UUID, warning: QuotaWarning) -> PendingEvent:
    kind = "quota.reached" if warning.percent >= 100 else "quota.warning"
    data = {name: value for name, value in asdict(warning).items() if name != "job_id"}
    return PendingEvent(kind, tenant_id, warning.job_id, None, data)
