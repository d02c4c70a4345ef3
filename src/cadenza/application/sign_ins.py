"""Signing in to the dashboard with a key or a link, and out again, here or everywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.authentication import Authentication
from cadenza.application.ports.sign_ins import SignInReads
from cadenza.application.ports.store import Store
from cadenza.application.recording import record
from cadenza.domain.access import Caller, caller_of, hash_of
from cadenza.domain.sign_in import LASTS, LINK_LASTS, SignIn, SignInLink

SEEN_NOTED = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class SignIns:
    store: Store
    reads: SignInReads
    authentication: Authentication
    new_secret: Callable[[], str]

    async def with_key(self, key: str) -> tuple[Caller, str] | None:
        """Who it is, and the token for their cookie; None where the key opens nothing."""
        caller = await self.authentication.caller_of(key.strip())
        return None if caller is None else (caller, await self._add(caller))

    async def as_person(self, user_id: UUID) -> tuple[Caller, str] | None:
        """Somebody whom an invitation or a provider has vouched for; they need no key."""
        caller = await self.authentication.person(user_id)
        return None if caller is None else (caller, await self._add(caller))

    async def with_link(self, token: str) -> tuple[Caller, str] | None:
        """None where the link was followed before, is too old, or its key opens nothing."""
        async with self.store.transaction() as tx:
            taken = await tx.take_sign_in_link(hash_of(token))
        if taken is None or taken[0].expires_at <= taken[1]:
            return None
        caller = await self._caller(taken[0].key_id, taken[1])
        return None if caller is None else (caller, await self._add(caller))

    async def create_link(self, caller: Caller) -> tuple[str, datetime]:
        """The token of a link that signs the caller in once, and until when."""
        token = self.new_secret()
        async with self.store.transaction() as tx:
            expires_at = await tx.time() + LINK_LASTS
            ids = (caller.tenant_id, caller.user_id, caller.key_id)
            await tx.insert_sign_in_link(SignInLink(hash_of(token), *ids, expires_at))
            await record(tx, caller.actor, caller.tenant_id, "sign-in.link", caller.key_id)
        return token, expires_at

    async def caller_of(self, token: str) -> Caller | None:
        """On whose behalf a browser asks; None where it is signed out, or its key has ended."""
        match = await self.reads.find_sign_in(hash_of(token))
        if match is None or not match[0].in_force(match[1]):
            return None
        sign_in, now = match
        if now - sign_in.last_seen_at >= SEEN_NOTED:
            await self.reads.note_seen(sign_in.hash)
        if sign_in.key_id is None:
            return await self.authentication.person(sign_in.user_id)
        return await self._caller(sign_in.key_id, now)

    async def sign_out(self, caller: Caller, token: str) -> None:
        async with self.store.transaction() as tx:
            await tx.delete_sign_in(hash_of(token))
            await record(tx, caller.actor, caller.tenant_id, "sign-in.end", caller.key_id)

    async def sign_out_everywhere(self, caller: Caller) -> None:
        """Every browser of this user, whichever key it was signed in with."""
        async with self.store.transaction() as tx:
            await tx.delete_sign_ins_of_user(caller.tenant_id, caller.user_id)
            action = "sign-in.end-everywhere"
            await record(tx, caller.actor, caller.tenant_id, action, caller.user_id)

    async def _add(self, caller: Caller) -> str:
        token = self.new_secret()
        key_id = None if caller.key_id == caller.user_id else caller.key_id
        ids = (caller.tenant_id, caller.user_id, key_id)
        async with self.store.transaction() as tx:
            now = await tx.time()
            await tx.delete_ended_sign_ins(now)
            await tx.insert_sign_in(SignIn(hash_of(token), *ids, now, now + LASTS, now))
            await record(tx, caller.actor, caller.tenant_id, "sign-in.create", caller.key_id)
        return token

    async def _caller(self, key_id: UUID, now: datetime) -> Caller | None:
        match = await self.authentication.find_key(key_id)
        if match is None or not match[0].in_force(max(now, match[2])):
            return None
        key, user, _ = match
        return caller_of(user, key)
