"""Use cases of tenants, users and API keys."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.people import check_jobs, close_streams
from cadenza.application.ports.accounts import TenantReads
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import created_before, record
from cadenza.domain.access import (
    INSTALLATION_ADMIN,
    Actor,
    ApiKey,
    Caller,
    Scope,
    Tenant,
    User,
    allows,
    hash_of,
    highest_scope_of_keys,
    token_of,
)
from cadenza.domain.audit import IdempotencyRecord, PendingEvent
from cadenza.domain.definition import check_name
from cadenza.domain.errors import AlreadyThere, InvalidInput, NotFound, Refused
from cadenza.domain.instants import iso, iso_or_none
from cadenza.domain.rule import Mode, Modes
from cadenza.domain.signing import SigningKey, retirement
from cadenza.domain.target import Secret

INSTALLATION = UUID(int=0)  # in whose name tenants are created; no tenant has this id
MAX_OVERLAP = timedelta(days=30)
EXPIRING_AT_ONCE = 1000
TENANT, USER, KEY = "default", "admin", "first"  # of a first start
FIRST_START = Actor("first start", "first start")


@dataclass(frozen=True, slots=True)
class TenantChange:
    """A partial update: fields that are left out stay as they are."""

    fields: dict[str, Any]  # as they were sent, for the audit log
    rules_mode: Mode | None = None
    llm_mode: Mode | None = None
    detectors_mode: Mode | None = None

    def applied_to(self, tenant: Tenant) -> Tenant:
        present = tenant.modes
        modes = Modes(
            self.rules_mode or present.rules,
            self.llm_mode or present.llm,
            self.detectors_mode or present.detectors,
        )
        days: int | None = self.fields.get("retention_days", tenant.retention_days)
        payer: UUID | None = self.fields.get("planner_account_id", tenant.planner_account_id)
        return replace(tenant, retention_days=days, modes=modes, planner_account_id=payer)


@dataclass(frozen=True, slots=True)
class Tenants:
    store: Store
    new_id: Callable[[], UUID]
    forget_keys: Callable[[], None]

    async def create(
        self,
        name: str,
        retention_days: int | None,
        sent: IdempotencyRecord | None = None,
        actor: Actor = INSTALLATION_ADMIN,
    ) -> tuple[UUID, bool]:
        """Returns the tenant's id, and whether an earlier identical request had created it."""
        check_name("name", name)
        tenant_id = self.new_id()
        async with self.store.transaction() as tx:
            existing = await created_before(tx, INSTALLATION, sent, tenant_id)
            if existing is not None:
                return existing, True
            await tx.insert_tenant(Tenant(tenant_id, name, await tx.time(), retention_days))
            await record(tx, actor, tenant_id, "tenant.create", tenant_id, {"name": name})
        return tenant_id, False

    async def change(self, caller: Caller, change: TenantChange) -> Tenant:
        async with self.store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(caller.tenant_id)
            changed = change.applied_to(tenant)
            await _check_payer(tx, changed)
            await tx.save_tenant(changed)
            data = {name: _audit_value(value) for name, value in change.fields.items()}
            await record(tx, caller.actor, tenant.id, "tenant.change", tenant.id, data)
        return changed

    async def delete(self, tenant_id: UUID, confirmation: str) -> None:
        """Delete the tenant with its users, keys, jobs, endpoints and history."""
        async with self.store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(tenant_id)
            if confirmation != tenant.name:
                fix = f"the name of the tenant, {tenant.name!r}, to be sure"
                raise InvalidInput("confirm", confirmation, fix)
            await tx.delete_tenant(tenant_id)
        self.forget_keys()

    async def create_user(
        self,
        tenant_id: UUID,
        name: str,
        sent: IdempotencyRecord | None = None,
        actor: Actor = INSTALLATION_ADMIN,
    ) -> tuple[User, bool]:
        check_name("name", name)
        user_id = self.new_id()
        async with self.store.transaction() as tx:
            existing = await created_before(tx, tenant_id, sent, user_id)
            if existing is not None:
                return await tx.get_user(tenant_id, existing), True
            user = User(user_id, tenant_id, name, await tx.time())
            await tx.insert_user(user)
            await record(tx, actor, tenant_id, "user.create", user_id, {"name": name})
        return user, False

    async def delete_user(self, tenant_id: UUID, user_id: UUID) -> None:
        """Delete the user and their keys, and revoke the grants that they gave."""
        async with self.store.transaction() as tx:
            await tx.revoke_grants_of_user(tenant_id, user_id)
            await tx.delete_user(tenant_id, user_id)
            await record(tx, INSTALLATION_ADMIN, tenant_id, "user.delete", user_id)
        self.forget_keys()


@dataclass(frozen=True, slots=True)
class NewKey:
    name: str
    scopes: Collection[Scope]
    user_id: UUID
    expires_at: datetime | None = None
    job_ids: Collection[UUID] | None = None  # it is only for these

    @property
    def details(self) -> dict[str, Any]:
        """What the audit log records of the key."""
        only = {} if self.job_ids is None else {"job_ids": [str(own) for own in self.job_ids]}
        ends = {} if self.expires_at is None else {"expires_at": iso(self.expires_at)}
        return {**ends, **only}


@dataclass(frozen=True, slots=True)
class Keys:
    """Creates, rotates and revokes API keys. A token is returned once and is not stored."""

    store: Store
    new_id: Callable[[], UUID]
    new_secret: Callable[[], str]
    forget_keys: Callable[[], None]

    async def create(
        self, caller: Caller, wanted: NewKey, sent: IdempotencyRecord | None = None
    ) -> tuple[ApiKey, str]:
        about = {"scopes": list(_in_order(wanted.scopes)), "user_id": str(wanted.user_id)}
        details = {**about, **wanted.details}
        return await self._create(caller.actor, caller.tenant_id, wanted, details, sent)

    async def create_for(
        self, tenant_id: UUID, wanted: NewKey, actor: Actor = INSTALLATION_ADMIN
    ) -> tuple[ApiKey, str]:
        """Create a key on behalf of the installation's admin."""
        return await self._create(actor, tenant_id, wanted, {})

    async def _create(
        self,
        actor: Actor,
        tenant_id: UUID,
        wanted: NewKey,
        details: dict[str, Any],
        sent: IdempotencyRecord | None = None,
    ) -> tuple[ApiKey, str]:
        check_name("name", wanted.name)
        async with self.store.transaction() as tx:
            key, token = self._new_key(tenant_id, wanted, await tx.time())
            existing = await created_before(tx, tenant_id, sent, key.id)
            if existing is not None:
                why = f"it was created as {existing}, and shown then; rotate it for a new one"
                raise Refused(why)
            await tx.insert_key(key)
            await _check_fits(tx, key)
            data = {"name": wanted.name, **details}
            await record(tx, actor, tenant_id, "key.create", key.id, data)
        return key, token

    async def rotate(self, caller: Caller, key_id: UUID, overlap: timedelta) -> tuple[ApiKey, str]:
        """A new key in the place of another, which goes on for a while; it lasts as long as that
        was made for."""
        tenant_id = caller.tenant_id
        async with self.store.transaction() as tx:
            old, now = await tx.lock_key(tenant_id, key_id)
            if not old.in_force(now):
                raise NotFound(f"no key {key_id} that is in force")
            wanted = NewKey(old.name, old.scopes, old.user_id, _as_long(old, now), old.job_ids)
            key, token = self._new_key(tenant_id, wanted, now)
            ends_at = now + overlap
            sooner = old.expires_at is not None and old.expires_at < ends_at
            await tx.save_key(old if sooner else replace(old, expires_at=ends_at))
            await tx.insert_key(key)
            await record(tx, caller.actor, tenant_id, "key.rotate", key_id)
        self.forget_keys()
        return key, token

    async def revoke(self, caller: Caller, key_id: UUID) -> ApiKey:
        """The key stops working at once, also for open event streams; one that was revoked before
        keeps its first revocation time."""
        async with self.store.transaction() as tx:
            key, now = await tx.lock_key(caller.tenant_id, key_id)
            revoked = replace(key, revoked_at=key.revoked_at or now)
            await tx.save_key(revoked)
            await record(tx, caller.actor, caller.tenant_id, "key.revoke", key_id)
            await close_streams(tx, caller.tenant_id)
        self.forget_keys()
        return revoked

    def _new_key(self, tenant_id: UUID, wanted: NewKey, now: datetime) -> tuple[ApiKey, str]:
        if wanted.expires_at is not None and wanted.expires_at <= now:
            raise InvalidInput("expires_at", wanted.expires_at.isoformat(), "an instant to come")
        key_id = self.new_id()
        token = token_of(key_id, self.new_secret())
        about = (wanted.user_id, wanted.name, _in_order(wanted.scopes), hash_of(token), now)
        only = None if wanted.job_ids is None else tuple(dict.fromkeys(wanted.job_ids))
        return ApiKey(key_id, tenant_id, *about, wanted.expires_at, job_ids=only), token


@dataclass(frozen=True, slots=True)
class SigningKeyRotation:
    """A new key signs at once; older keys stay valid until the overlap ends."""

    store: Store
    new_id: Callable[[], UUID]

    async def rotate(
        self, actor: Actor, tenant_id: UUID, secret: Secret, overlap: timedelta
    ) -> SigningKey:
        async with self.store.transaction() as tx:
            _, now = await tx.lock_tenant(tenant_id)
            ends_at = retirement(await tx.signing_key_ends(tenant_id), now, overlap)
            await tx.end_signing_keys(tenant_id, now, ends_at)
            key = SigningKey(self.new_id(), tenant_id, secret, now)
            await tx.insert_signing_key(key)
            data = {"overlap": str(overlap)}
            await record(tx, actor, tenant_id, "signing-key.create", key.id, data)
        return key


@dataclass(frozen=True, slots=True)
class FirstStart:
    """Creates the first tenant, its admin and a key, if the installation has no tenant."""

    tenants: Tenants
    keys: Keys
    reads: TenantReads

    async def first_key(self) -> str | None:
        """The token of a new admin key, or None where a tenant exists already."""
        if await self.reads.list_tenants(None, 1):
            return None
        try:
            tenant_id, _ = await self.tenants.create(TENANT, None, actor=FIRST_START)
        except AlreadyThere:  # another program was faster
            return None
        user, _ = await self.tenants.create_user(tenant_id, USER, actor=FIRST_START)
        return await self._new_key(user)

    async def another_key(self) -> str | None:
        """A new key for the admin of the first tenant, whose key was lost."""
        admin = await self._first_admin()
        return await self._new_key(admin) if admin is not None else None

    async def _new_key(self, admin: User) -> str:
        wanted = NewKey(KEY, (Scope.ADMIN,), admin.id)
        _, token = await self.keys.create_for(admin.tenant_id, wanted, actor=FIRST_START)
        return token

    async def _first_admin(self) -> User | None:
        after: UUID | None = None
        while tenants := await self.reads.list_tenants(after, 200):
            for tenant in tenants:
                if tenant.name == TENANT:
                    users = await self.reads.list_users(tenant.id)
                    return next((user for user in users if user.name == USER), None)
            after = tenants[-1].id
        return None


async def _check_payer(tx: Transaction, tenant: Tenant) -> None:
    payer = tenant.planner_account_id
    if payer is None:
        return
    try:
        await tx.lock_account(tenant.id, payer)
    except NotFound as error:
        fix = "the id of an account of this tenant: GET /accounts"
        raise InvalidInput("planner_account_id", str(payer), fix) from error


async def _check_fits(tx: Transaction, key: ApiKey) -> None:
    """Refuse a key with more rights than its user has."""
    user = await tx.get_user(key.tenant_id, key.user_id)
    most = highest_scope_of_keys(user)
    if most is None or not all(allows((most,), scope) for scope in key.scopes):
        most = most or "nothing"
        fix = f"at most {most}: the role of {user.name} does not reach further"
        raise InvalidInput("scopes", ", ".join(key.scopes), fix)
    if key.job_ids is None:
        return
    if Scope.ADMIN in key.scopes:
        fix = "read or operate: a key for single jobs is no admin's"
        raise InvalidInput("scopes", "admin", fix)
    await check_jobs(tx, key.tenant_id, key.job_ids, "job_ids")


def _as_long(old: ApiKey, now: datetime) -> datetime | None:
    return None if old.expires_at is None else now + (old.expires_at - old.created_at)


async def notify_of_expiring_keys(store: Store) -> int:
    """Add one event per key that is about to expire; returns how many. Called every minute."""
    async with store.transaction() as tx:
        keys = await tx.take_expiring_keys(EXPIRING_AT_ONCE)
        if keys:
            await tx.add_events([_expiring(key) for key in keys])
    return len(keys)


def _expiring(key: ApiKey) -> PendingEvent:
    data = {"name": key.name, "expires_at": iso_or_none(key.expires_at)}  # its id is for admins
    return PendingEvent("key.expiring", key.tenant_id, data=data)


def _audit_value(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


def _in_order(scopes: Collection[Scope]) -> tuple[Scope, ...]:
    return tuple(scope for scope in Scope if scope in scopes)
