"""Figures of the whole installation, which a program reads when it is asked, and not too often."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from cadenza.adapters.telemetry.prometheus import Metrics
from cadenza.application.ports.overview import Overview, OverviewReads, QuotaShare
from cadenza.application.ports.workers import KnownWorker, WorkerReads
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.incident import Severity

READ_EVERY = 10.0  # seconds: several may scrape
MOST_WORKERS = 1_000


class InstallationFigures:
    def __init__(
        self,
        metrics: Metrics,
        overview: OverviewReads,
        workers: WorkerReads,
        tenants: Collection[str] = (),
    ) -> None:
        self._metrics = metrics
        self._overview = overview
        self._workers = workers
        self._tenants = tenants
        self._read_at: float | None = None
        self._turn = asyncio.Lock()

    async def refresh(self) -> None:
        """Figures that cannot be read now stay as they were, and it is said that they did."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            if self._read_at is not None and now - self._read_at < READ_EVERY:
                return
            self._read_at = now
            success = self._metrics.gauge("cadenza_installation_read_success")
            try:
                overview = await self._overview.overview(self._tenants)
                workers = await self._workers.list_workers(MOST_WORKERS)
            except StoreUnavailable:
                success.set(0)
                return
            self._show(overview, workers)
            success.set(1)

    def _show(self, overview: Overview, workers: Sequence[KnownWorker]) -> None:
        gauge = self._metrics.gauge
        gauge("cadenza_due_backlog").set(overview.due)
        gauge("cadenza_due_oldest_seconds").set(overview.oldest_due_seconds)
        gauge("cadenza_deliveries_due_oldest_seconds").set(overview.oldest_delivery_seconds)
        for severity in Severity:
            open_now = overview.open_incidents.get(severity, 0)
            gauge("cadenza_incidents_open", severity).set(open_now)
        self._metrics.clear("cadenza_workers")
        for labels, count in _states(workers).items():
            gauge("cadenza_workers", *labels).set(count)
        self._metrics.clear("cadenza_quota_used_ratio")
        for unit, share in _units(overview.highest):
            gauge("cadenza_quota_used_ratio", unit).set(share)
        self._metrics.clear("cadenza_tenant_quota_used_ratio")
        for tenant, shares in overview.tenants.items():
            for unit, share in _units(shares):
                gauge("cadenza_tenant_quota_used_ratio", tenant, unit).set(share)


def _states(workers: Sequence[KnownWorker]) -> Counter[tuple[str, str]]:
    """One that another of its kind has followed is missed by nobody, as incidents have it."""
    alive = [one for one in workers if one.is_alive]
    states = Counter((one.kind, "alive") for one in alive)
    for gone in workers:
        is_followed = any(one.kind == gone.kind and one.started_at > gone.seen_at for one in alive)
        if not gone.is_alive and not is_followed:
            states[gone.kind, "gone"] += 1
    return states


def _units(share: QuotaShare) -> Iterator[tuple[str, float]]:
    if share.tokens is not None:
        yield "tokens", share.tokens
    if share.dollars is not None:
        yield "dollars", share.dollars
