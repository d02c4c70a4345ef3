from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.application.ports.planning import Reservation
from cadenza.domain.quota import Allowance, QuotaWarning, warnings_of


class PostgresQuota:
    def __init__(
        self,
        database: Database,
        tokens_per_month: int | None = None,
        money_per_month: float | None = None,
    ) -> None:
        self._database = database
        self._limits = (tokens_per_month, money_per_month)

    async def reserve(self, tenant_id: UUID, tokens: int, cost: float = 0.0) -> Reservation | None:
        async with self._database.transaction() as connection:
            await connection.execute(query("release_lost_reservations"), tenant_id)
            row = await connection.fetchrow(
                query("reserve_quota"), tenant_id, tokens, cost, *self._limits
            )
            if row is None:
                await connection.execute(query("refuse_quota"), tenant_id, *self._limits)
        if row is None:
            return None
        return Reservation(row["id"], tenant_id, row["month"], tokens, cost)

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        async with self._database.connection() as connection:
            row = await connection.fetchrow(query("settle_quota"), reservation.id, used, cost)
        if row is None:
            return ()
        settled = Allowance(
            row["token_limit"],
            row["used"],
            cost_limit=row["cost_limit"],
            cost_used=row["cost_used"],
        )
        return warnings_of(settled, used, cost)
