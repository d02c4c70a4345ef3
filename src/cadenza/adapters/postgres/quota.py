from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.application.ports.quota import Reservation


class PostgresQuota:
    def __init__(self, database: Database, tokens_per_month: int | None = None) -> None:
        self._database = database
        self._limit = tokens_per_month

    async def reserve(self, tenant_id: UUID, tokens: int) -> Reservation | None:
        async with self._database.connection() as connection:
            month = await connection.fetchval(
                query("reserve_tokens"), tenant_id, tokens, self._limit
            )
        return None if month is None else Reservation(tenant_id, month, tokens)

    async def settle(self, reservation: Reservation, used: int) -> None:
        async with self._database.connection() as connection:
            await connection.execute(
                query("settle_tokens"),
                reservation.tenant_id,
                reservation.month,
                reservation.tokens,
                used,
            )
