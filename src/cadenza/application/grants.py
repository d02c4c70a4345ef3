"""Grants: a user gives them to scheduled graphs; whoever may operate those may revoke them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import created_before, record
from cadenza.domain.access import Actor, Caller
from cadenza.domain.audit import IdempotencyRecord, PendingEvent
from cadenza.domain.errors import InvalidInput
from cadenza.domain.grant import Grant, check_scopes
from cadenza.domain.instants import iso, iso_or_none

EXPIRING_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class NewGrant:
    account_id: UUID
    scopes: tuple[str, ...]
    expires: datetime | timedelta | None = None  # at an instant, or from now


class Grants:
    def __init__(self, store: Store, new_id: Callable[[], UUID]) -> None:
        self._store = store
        self._new_id = new_id

    async def create(
        self, caller: Caller, wanted: NewGrant, sent: IdempotencyRecord | None = None
    ) -> tuple[Grant, bool]:
        """Returns the grant, and whether an earlier identical request had created it."""
        check_scopes(wanted.scopes)
        grant_id = self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, caller.tenant_id, sent, grant_id)
            if existing is not None:
                grant, _ = await tx.lock_grant(caller.tenant_id, existing)
                return grant, True
            return await add_grant(tx, caller, grant_id, wanted), False

    async def revoke(self, caller: Caller, grant_id: UUID) -> Grant:
        async with self._store.transaction() as tx:
            return await revoke_grant(tx, caller.actor, caller.tenant_id, grant_id)


async def add_grant(
    tx: Transaction,
    caller: Caller,
    grant_id: UUID,
    wanted: NewGrant,
    schedule_id: UUID | None = None,
    endpoint_id: UUID | None = None,
) -> Grant:
    """One that is made for a schedule or an endpoint is revoked with it."""
    check_scopes(wanted.scopes)
    now = await tx.time()
    scopes = tuple(dict.fromkeys(wanted.scopes))
    grant = Grant(
        grant_id,
        caller.tenant_id,
        caller.user_id,
        wanted.account_id,
        scopes,
        now,
        expires_at=_expiry(wanted, now),
        schedule_id=schedule_id,
        endpoint_id=endpoint_id,
    )
    await tx.insert_grant(grant)
    expires_at = iso_or_none(grant.expires_at)
    data = {"account_id": str(grant.account_id), "scopes": scopes, "expires_at": expires_at}
    await record(tx, caller.actor, caller.tenant_id, "grant.create", grant.id, data)
    return grant


def _expiry(wanted: NewGrant, now: datetime) -> datetime | None:
    if isinstance(wanted.expires, timedelta):
        return now + wanted.expires
    if wanted.expires is not None and wanted.expires <= now:
        raise InvalidInput("expires_at", iso(wanted.expires), "an instant to come")
    return wanted.expires


async def revoke_grant(tx: Transaction, actor: Actor, tenant_id: UUID, grant_id: UUID) -> Grant:
    """No run starts under it any more; a grant that was revoked before keeps its time."""
    grant, now = await tx.lock_grant(tenant_id, grant_id)
    if grant.revoked_at is not None:
        return grant
    revoked = replace(grant, revoked_at=now)
    await tx.save_grant(revoked)
    await record(tx, actor, tenant_id, "grant.revoke", grant_id)
    return revoked


async def revoke_grants_of_endpoints(
    tx: Transaction, caller: Caller, endpoint_ids: Sequence[UUID]
) -> None:
    """Only grants that were made for these endpoints."""
    for grant_id in await tx.revoke_grants_of_endpoints(endpoint_ids):
        await record(tx, caller.actor, caller.tenant_id, "grant.revoke", grant_id)


async def notify_of_expiring_grants(store: Store) -> int:
    """Add one event per grant that is about to expire; returns how many. Called every minute."""
    async with store.transaction() as tx:
        grants = await tx.take_expiring_grants(EXPIRING_AT_ONCE)
        if grants:
            await tx.add_events([_expiring(grant) for grant in grants])
    return len(grants)


def _expiring(grant: Grant) -> PendingEvent:
    data = {
        "grant_id": str(grant.id),
        "account_id": str(grant.account_id),
        "schedule_id": None if grant.schedule_id is None else str(grant.schedule_id),
        "endpoint_id": None if grant.endpoint_id is None else str(grant.endpoint_id),
        "expires_at": iso_or_none(grant.expires_at),
    }
    return PendingEvent("grant.expiring", grant.tenant_id, data=data)
