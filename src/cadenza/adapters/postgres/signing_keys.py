"""The signing keys of tenants: sealed at rest, replaced with an overlap."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.recording import record
from cadenza.adapters.postgres.secrets import SIGNING_KEY
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.audit import AuditEntry
from cadenza.domain.errors import NotFound, SecretUnreadable
from cadenza.domain.signing import SigningKey, retirement
from cadenza.domain.target import Secret


class PostgresSigningKeys:
    def __init__(self, database: Database, box: SecretBox, new_id: Callable[[], UUID]) -> None:
        self._database = database
        self._box = box
        self._new_id = new_id

    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        """An old key that does not open is left out: its successor signs for it. SecretUnreadable
        where the newest does not open."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_signing_keys"), tenant_id)
        keys: list[SigningKey] = []
        for row in rows:
            try:
                keys.append(self._opened(row))
            except SecretUnreadable:
                if not keys:
                    raise
        return keys

    async def rotate(
        self, tenant_id: UUID, secret: Secret, overlap: timedelta, entry: AuditEntry | None = None
    ) -> SigningKey:
        key_id = self._new_id()
        sealed = self._box.seal(
            secret.value, tenant_id=tenant_id, row_id=key_id, column=SIGNING_KEY
        )
        async with self._database.transaction() as connection:
            now = await connection.fetchval(query("lock_tenant"), tenant_id)
            if now is None:
                raise NotFound(f"no tenant {tenant_id}")
            rows = await connection.fetch(query("list_signing_keys"), tenant_id)
            ends_at = retirement([row["retires_at"] for row in rows], now, overlap)
            await connection.execute(query("retire_signing_keys"), tenant_id, now, ends_at)
            await connection.execute(query("add_signing_key"), key_id, tenant_id, sealed, now)
            if entry is not None:
                await record(connection, tenant_id, entry, key_id)
        return SigningKey(key_id, tenant_id, secret, now)

    def _opened(self, row: asyncpg.Record) -> SigningKey:
        plain = self._box.open(
            row["secret"], tenant_id=row["tenant_id"], row_id=row["id"], column=SIGNING_KEY
        )
        return SigningKey(
            row["id"], row["tenant_id"], Secret(plain), row["created_at"], row["retires_at"]
        )
