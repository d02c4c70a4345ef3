from collections import Counter
from collections.abc import Collection

from cadenza.adapters.memory.tables import OverTables, key_of
from cadenza.application.ports.overview import MOST_DUE, Overview, QuotaShare
from cadenza.domain.claiming import slot_to_claim
from cadenza.domain.delivery import DeliveryStatus
from cadenza.domain.quota import Allowance, Period, month_of


class MemoryOverview(OverTables):
    async def overview(self, tenants: Collection[str]) -> Overview:
        now = self._tables.clock.now()
        due = [
            row.endpoint.next_run_at
            for row in self._tables.endpoints.values()
            if row.endpoint.next_run_at is not None
            and row.endpoint.next_run_at <= now
            and slot_to_claim(row.endpoint, row.lease_until, now, now) is not None
        ]
        oldest = (now - min(due)).total_seconds() if due else 0.0
        month = month_of(now)
        shares = {
            tenant.name: _share(self._tables.allowances.get(key_of(Period(tenant.id, month))))
            for tenant in self._tables.tenants.values()
        }
        highest = QuotaShare(
            max(filter(None, (share.tokens for share in shares.values())), default=None),
            max(filter(None, (share.dollars for share in shares.values())), default=None),
        )
        asked = {name: share for name, share in shares.items() if name in tenants}
        incidents = Counter(one.severity for one in self._tables.incidents.values() if one.is_open)
        waiting = [
            (now - row.delivery.due_at).total_seconds()
            for row in self._tables.deliveries.values()
            if row.delivery.status is DeliveryStatus.WAITING and not row.is_leased(now)
        ]
        return Overview(
            min(len(due), MOST_DUE),
            oldest,
            highest,
            asked,
            {str(severity): count for severity, count in incidents.items()},
            max(0.0, max(waiting, default=0.0)),
        )


def _share(allowance: Allowance | None) -> QuotaShare:
    if allowance is None:
        return QuotaShare()
    return QuotaShare(
        allowance.used / allowance.limit if allowance.limit else None,
        allowance.cost_used / allowance.cost_limit if allowance.cost_limit else None,
    )
