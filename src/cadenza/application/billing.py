"""Accounts: their credits, and their keys for model providers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from cadenza.application.ports.billing import LedgerRows
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import created_before, record
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.billing import Account, Charge, LedgerEntry, ModelApi, VirtualKey
from cadenza.domain.billing_validation import (
    check_adjustment,
    check_base_url,
    check_key,
    hint_of,
)
from cadenza.domain.definition import ValidationPolicy, check_name
from cadenza.domain.errors import InvalidInput, NotFound
from cadenza.domain.target import Secret


async def charge(tx: LedgerRows, usage: Charge) -> bool:
    """Charge what a graph run or a planner session used; False where it was charged before."""
    return await tx.add_charge(usage)


@dataclass(frozen=True, slots=True)
class Adjustment:
    credits: int  # below zero: taken away
    reason: str
    reference: str  # of the payment, or whatever names it: the same one counts once


class BillingAccounts:
    def __init__(self, store: Store, new_id: Callable[[], UUID]) -> None:
        self._store = store
        self._new_id = new_id

    async def create(
        self, caller: Caller, name: str, sent: IdempotencyRecord | None = None
    ) -> tuple[Account, bool]:
        """Returns the account, and whether an earlier identical request had created it."""
        check_name("name", name)
        tenant_id, account_id = caller.tenant_id, self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, tenant_id, sent, account_id)
            if existing is not None:
                return await tx.lock_account(tenant_id, existing), True
            account = Account(account_id, tenant_id, name, 0, await tx.time())
            await tx.insert_account(account)
            await record(tx, caller.actor, tenant_id, "account.create", account_id, {"name": name})
        return account, False

    async def adjust(
        self, caller: Caller, account_id: UUID, wanted: Adjustment
    ) -> tuple[LedgerEntry, bool]:
        """Add or remove credits; returns the entry, and whether its reference existed before."""
        details = (wanted.credits, wanted.reason, wanted.reference)
        async with self._store.transaction() as tx:
            account = await tx.lock_account(caller.tenant_id, account_id)
            existing = await tx.find_entry(account_id, wanted.reference)
            if existing is not None:
                _check_same(existing, wanted)
                return existing, True
            check_adjustment(account, *details)
            entry = await tx.add_entry(account, *details)
            data = {"credits": entry.credits, "reason": entry.reason, "balance": entry.balance}
            await record(
                tx,
                caller.actor,
                caller.tenant_id,
                "account.credits",
                account_id,
                {**data, "reference": entry.reference},
            )
        return entry, False


def _check_same(existing: LedgerEntry, wanted: Adjustment) -> None:
    if (existing.credits, existing.reason) != (wanted.credits, wanted.reason):
        fix = f"it stands for {existing.credits} credits already; take a new one for another entry"
        raise InvalidInput("reference", wanted.reference, fix)


@dataclass(frozen=True, slots=True)
class NewVirtualKey:
    name: str
    api: ModelApi
    base_url: str
    secret: Secret
    is_default: bool = False


class VirtualKeys:
    """An account's keys for providers; calls use the default key of their API."""

    def __init__(self, store: Store, policy: ValidationPolicy, new_id: Callable[[], UUID]) -> None:
        self._store = store
        self._policy = policy
        self._new_id = new_id

    async def create(
        self,
        caller: Caller,
        account_id: UUID,
        wanted: NewVirtualKey,
        sent: IdempotencyRecord | None = None,
    ) -> tuple[VirtualKey, bool]:
        """The first key of an API becomes its default."""
        check_name("name", wanted.name)
        check_base_url(wanted.base_url, self._policy.closed_ports)
        check_key(wanted.secret)
        key_id = self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, caller.tenant_id, sent, key_id)
            account = await tx.lock_account(caller.tenant_id, account_id)
            keys = await tx.virtual_keys_of(account)
            if existing is not None:
                return _find(keys, existing), True
            rivals = [other for other in keys if other.api is wanted.api and other.is_default]
            key = VirtualKey(
                key_id,
                account_id,
                wanted.name,
                wanted.api,
                wanted.base_url.rstrip("/"),
                hint=hint_of(wanted.secret),
                is_default=wanted.is_default or not rivals,
                created_at=await tx.time(),
            )
            if key.is_default:
                await _replace_default(tx, rivals)
            await tx.insert_virtual_key(account, key, wanted.secret)
            await self._record(tx, caller, "create", key)
        return key, False

    async def set_default(self, caller: Caller, account_id: UUID, key_id: UUID) -> VirtualKey:
        async with self._store.transaction() as tx:
            account = await tx.lock_account(caller.tenant_id, account_id)
            keys = await tx.virtual_keys_of(account)
            key = _find(keys, key_id)
            if key.revoked_at is not None:
                raise NotFound(f"no virtual key {key_id} that is in force")
            if not key.is_default:
                same_api = [other for other in keys if other.api is key.api]
                await _replace_default(tx, [other for other in same_api if other.is_default])
                key = replace(key, is_default=True)
                await tx.save_virtual_key(key)
                await self._record(tx, caller, "default", key)
        return key

    async def revoke(self, caller: Caller, account_id: UUID, key_id: UUID) -> VirtualKey:
        """Deletes the secret. No other key becomes the default by itself: it may belong to another
        provider, and that is a person's choice."""
        async with self._store.transaction() as tx:
            account = await tx.lock_account(caller.tenant_id, account_id)
            key = _find(await tx.virtual_keys_of(account), key_id)
            if key.revoked_at is None:
                key = replace(key, revoked_at=await tx.time(), is_default=False)
                await tx.save_virtual_key(key)
                await self._record(tx, caller, "revoke", key)
        return key

    async def _record(self, tx: Transaction, caller: Caller, did: str, key: VirtualKey) -> None:
        data = {"account_id": str(key.account_id), "name": key.name, "api": key.api}
        await record(tx, caller.actor, caller.tenant_id, f"virtual-key.{did}", key.id, data)


def _find(keys: Sequence[VirtualKey], key_id: UUID) -> VirtualKey:
    key = next((key for key in keys if key.id == key_id), None)
    if key is None:
        raise NotFound(f"no virtual key {key_id}")
    return key


async def _replace_default(tx: Transaction, present: Sequence[VirtualKey]) -> None:
    """Called before a new default is stored: an API has at most one."""
    for key in present:
        await tx.save_virtual_key(replace(key, is_default=False))
