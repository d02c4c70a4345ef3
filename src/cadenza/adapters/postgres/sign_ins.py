"""Who is signed in to the dashboard."""

from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import present
from cadenza.domain.sign_in import SignIn, SignInLink


class PostgresSignIns:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_sign_in(self, token_hash: bytes) -> tuple[SignIn, datetime] | None:
        row = await self._database.fetchrow(query("find_sign_in"), token_hash)
        if row is None:
            return None
        sign_in = SignIn(
            hash=row["hash"],
            tenant_id=row["tenant_id"],
            user_id=row["user_id"],
            key_id=row["key_id"],
            created_at=row["created_at"],
            expires_at=row["expires_at"],
            last_seen_at=row["last_seen_at"],
        )
        return sign_in, row["now"]

    async def note_seen(self, token_hash: bytes) -> None:
        await self._database.execute(query("touch_sign_in"), token_hash)


class PostgresSignInRows:
    """In a transaction."""

    connection: Connection

    async def insert_sign_in(self, sign_in: SignIn) -> None:
        async with present(f"no key {sign_in.key_id or sign_in.user_id}"):
            await self.connection.execute(
                query("insert_sign_in"),
                sign_in.hash,
                sign_in.tenant_id,
                sign_in.user_id,
                sign_in.key_id,
                sign_in.created_at,
                sign_in.expires_at,
                sign_in.last_seen_at,
            )

    async def delete_sign_in(self, token_hash: bytes) -> None:
        await self.connection.execute(query("delete_sign_in"), token_hash)

    async def delete_sign_ins_of_user(self, tenant_id: UUID, user_id: UUID) -> None:
        await self.connection.execute(query("delete_sign_ins_of_user"), tenant_id, user_id)

    async def delete_ended_sign_ins(self, now: datetime) -> None:
        await self.connection.execute(query("delete_ended_sign_ins"), now)

    async def insert_sign_in_link(self, link: SignInLink) -> None:
        async with present(f"no key {link.key_id}"):
            await self.connection.execute(
                query("insert_sign_in_link"),
                link.hash,
                link.tenant_id,
                link.user_id,
                link.key_id,
                link.expires_at,
            )

    async def take_sign_in_link(self, token_hash: bytes) -> tuple[SignInLink, datetime] | None:
        row = await self.connection.fetchrow(query("take_sign_in_link"), token_hash)
        if row is None:
            return None
        ids = (row["tenant_id"], row["user_id"], row["key_id"])
        return SignInLink(row["hash"], *ids, row["expires_at"]), row["now"]
