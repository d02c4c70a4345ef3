"""Accounts that pay for models, in a transaction."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.billing import VIRTUAL_KEY, account_of, entry_of, virtual_key_of
from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import present, translated_unique_violations
from cadenza.adapters.postgres.storable import to_text
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.billing import Account, Charge, LedgerEntry, VirtualKey
from cadenza.domain.errors import NotFound
from cadenza.domain.target import Secret


class PostgresBillingRows:
    connection: Connection
    box: SecretBox

    async def insert_account(self, account: Account) -> None:
        async with translated_unique_violations(account.name):
            await self.connection.execute(
                query("insert_billing_account"),
                account.id,
                account.tenant_id,
                to_text(account.name),
                account.balance,
                account.created_at,
            )

    async def lock_account(self, tenant_id: UUID, account_id: UUID) -> Account:
        row = await self.connection.fetchrow(query("lock_billing_account"), tenant_id, account_id)
        if row is None:
            raise NotFound(f"no account {account_id}")
        return account_of(row)

    async def find_entry(self, account_id: UUID, reference: str) -> LedgerEntry | None:
        row = await self.connection.fetchrow(query("find_entry"), account_id, reference)
        return None if row is None else entry_of(row)

    async def add_entry(
        self, account: Account, amount: int, reason: str, reference: str
    ) -> LedgerEntry:
        row = await self.connection.fetchrow(
            query("add_entry"), account.id, amount, to_text(reason), reference
        )
        assert row is not None
        return entry_of(row)

    async def add_charge(self, charge: Charge) -> bool:
        usage = charge.usage
        async with present(f"no account {charge.account_id}"):
            entry_id = await self.connection.fetchval(
                query("add_charge"),
                charge.reference,
                charge.tenant_id,
                charge.account_id,
                charge.run_id,
                charge.schedule_id,
                charge.graph_id,
                to_text(charge.model),
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                charge.credits,
                charge.basis,
                charge.job_id,
                charge.endpoint_id,
            )
        return entry_id is not None

    # --- Keys for providers ---------------------------------------------------------------

    async def virtual_keys_of(self, account: Account) -> Sequence[VirtualKey]:
        rows = await self.connection.fetch(
            query("list_virtual_keys"), account.tenant_id, account.id
        )
        return [virtual_key_of(row) for row in rows]

    async def insert_virtual_key(self, account: Account, key: VirtualKey, secret: Secret) -> None:
        sealed = self.box.seal(
            secret.value, tenant_id=account.tenant_id, row_id=key.id, column=VIRTUAL_KEY
        )
        await self.connection.execute(
            query("insert_virtual_key"),
            key.id,
            account.tenant_id,
            key.account_id,
            to_text(key.name),
            key.api,
            key.base_url,
            key.hint,
            sealed,
            key.is_default,
            key.created_at,
        )

    async def save_virtual_key(self, key: VirtualKey) -> None:
        await self.connection.execute(
            query("save_virtual_key"), key.id, key.is_default, key.revoked_at
        )
