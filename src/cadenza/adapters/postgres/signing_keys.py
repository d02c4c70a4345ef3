"""The signing keys of tenants, sealed at rest."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.errors import SecretUnreadable
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import Secret

SIGNING_KEY = "signing_keys.secret"


class PostgresSigningKeys:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        rows = await self._database.fetch(query("list_signing_keys"), tenant_id)
        keys: list[SigningKey] = []
        for row in rows:
            try:
                keys.append(self._opened(row))
            except SecretUnreadable:
                if not keys:
                    raise
        return keys

    def _opened(self, row: Row) -> SigningKey:
        plain = self._box.open(
            row["secret"], tenant_id=row["tenant_id"], row_id=row["id"], column=SIGNING_KEY
        )
        return SigningKey(
            row["id"], row["tenant_id"], Secret(plain), row["created_at"], row["retires_at"]
        )
