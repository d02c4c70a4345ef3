"""A transaction's verbs for accounts that pay for models."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.memory.rows import ChargeRow, LedgerRow, VirtualKeyRow
from cadenza.adapters.memory.writes import Writes
from cadenza.domain.billing import CHARGE, Account, Charge, LedgerEntry, VirtualKey
from cadenza.domain.errors import AlreadyThere
from cadenza.domain.target import Secret


class MemoryBillingRows(Writes):
    async def insert_account(self, account: Account) -> None:
        others = self._tables.accounts.values()
        if any(
            (other.tenant_id, other.name) == (account.tenant_id, account.name) for other in others
        ):
            raise AlreadyThere(
                "name", account.name, "an account of that name exists; choose another"
            )
        self._put(self._tables.accounts, account.id, account)

    async def lock_account(self, tenant_id: UUID, account_id: UUID) -> Account:
        return self._tables.account(tenant_id, account_id)

    async def find_entry(self, account_id: UUID, reference: str) -> LedgerEntry | None:
        entries = (row.entry for row in self._tables.ledger.values())
        wanted = (account_id, reference)
        return next(
            (entry for entry in entries if (entry.account_id, entry.reference) == wanted), None
        )

    async def add_entry(
        self, account: Account, amount: int, reason: str, reference: str
    ) -> LedgerEntry:
        account = self._tables.accounts[account.id]
        moved = replace(account, balance=account.balance + amount)
        self._put(self._tables.accounts, account.id, moved)
        number = next(self._tables.ledger_numbers)
        entry = LedgerEntry(number, account.id, self._now, amount, moved.balance, reason, reference)
        self._put(self._tables.ledger, number, LedgerRow(account.tenant_id, entry))
        return entry

    async def add_charge(self, charge: Charge) -> bool:
        account = self._tables.account(charge.tenant_id, charge.account_id)
        if charge.reference in self._tables.charges:
            return False
        self._put(self._tables.charges, charge.reference, ChargeRow(charge, self._now))
        await self.add_entry(account, -charge.credits, CHARGE, charge.reference)
        return True

    # --- Keys for providers ---------------------------------------------------------------

    async def virtual_keys_of(self, account: Account) -> Sequence[VirtualKey]:
        rows = self._tables.virtual_keys.values()
        return [row.key for row in rows if row.key.account_id == account.id]

    async def insert_virtual_key(self, account: Account, key: VirtualKey, secret: Secret) -> None:
        row = VirtualKeyRow(account.tenant_id, key, secret)
        self._put(self._tables.virtual_keys, key.id, row)

    async def save_virtual_key(self, key: VirtualKey) -> None:
        row = self._tables.virtual_keys[key.id]
        secret = row.secret if key.revoked_at is None else None
        self._put(self._tables.virtual_keys, key.id, replace(row, key=key, secret=secret))
