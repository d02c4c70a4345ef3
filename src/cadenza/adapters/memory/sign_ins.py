"""Who is signed in to the dashboard."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.domain.sign_in import SignIn, SignInLink

SEEN_NOTED = timedelta(minutes=1)


class MemorySignIns(OverTables):
    async def find_sign_in(self, token_hash: bytes) -> tuple[SignIn, datetime] | None:
        sign_in = self._tables.sign_ins.get(token_hash)
        return None if sign_in is None else (sign_in, self._tables.clock.now())

    async def note_seen(self, token_hash: bytes) -> None:
        sign_ins, now = self._tables.sign_ins, self._tables.clock.now()
        sign_in = sign_ins.get(token_hash)
        if sign_in is not None and sign_in.last_seen_at < now - SEEN_NOTED:
            sign_ins[token_hash] = replace(sign_in, last_seen_at=now)


class MemorySignInRows(Writes):
    """A transaction's verbs."""

    async def insert_sign_in(self, sign_in: SignIn) -> None:
        self._tables.user(sign_in.tenant_id, sign_in.user_id)
        if sign_in.key_id is not None:
            self._tables.key(sign_in.tenant_id, sign_in.key_id)
        self._put(self._tables.sign_ins, sign_in.hash, sign_in)

    async def delete_sign_in(self, token_hash: bytes) -> None:
        self._delete_where(self._tables.sign_ins, lambda key, _: key == token_hash)

    async def delete_sign_ins_of_user(self, tenant_id: UUID, user_id: UUID) -> None:
        def is_of_user(_: bytes, row: SignIn | SignInLink) -> bool:
            return (row.tenant_id, row.user_id) == (tenant_id, user_id)

        self._delete_where(self._tables.sign_ins, is_of_user)
        self._delete_where(self._tables.sign_in_links, is_of_user)

    async def delete_ended_sign_ins(self, now: datetime) -> None:
        self._delete_where(self._tables.sign_ins, lambda _, row: row.expires_at <= now)
        self._delete_where(self._tables.sign_in_links, lambda _, row: row.expires_at <= now)

    async def insert_sign_in_link(self, link: SignInLink) -> None:
        self._tables.key(link.tenant_id, link.key_id)
        self._put(self._tables.sign_in_links, link.hash, link)

    async def take_sign_in_link(self, token_hash: bytes) -> tuple[SignInLink, datetime] | None:
        link = self._tables.sign_in_links.get(token_hash)
        if link is None:
            return None
        self._delete(self._tables.sign_in_links, token_hash)
        return link, self._now
