"""Accounts that pay for models, as they are read."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.billing import Means, UsageRow, UsageSearch
from cadenza.application.ports.gateway import Provider
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.billing import (
    Account,
    LedgerCheck,
    LedgerEntry,
    ModelApi,
    TokenUsage,
    VirtualKey,
)
from cadenza.domain.errors import NotFound
from cadenza.domain.grant import Grant
from cadenza.domain.graph import GraphCaller
from cadenza.domain.target import Secret

VIRTUAL_KEY = "virtual_keys.sealed"


class PostgresBilling:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def list_accounts(
        self, tenant_id: UUID, name: str | None, after: tuple[str, UUID] | None, limit: int
    ) -> Sequence[Account]:
        rows = await self._database.fetch(
            query("list_billing_accounts"), tenant_id, name, *(after or (None, None)), limit
        )
        return [account_of(row) for row in rows]

    async def get_account(self, tenant_id: UUID, account_id: UUID) -> Account:
        row = await self._database.fetchrow(query("get_billing_account"), tenant_id, account_id)
        if row is None:
            raise NotFound(f"no account {account_id}")
        return account_of(row)

    async def list_virtual_keys(self, tenant_id: UUID, account_id: UUID) -> Sequence[VirtualKey]:
        await self.get_account(tenant_id, account_id)
        rows = await self._database.fetch(query("list_virtual_keys"), tenant_id, account_id)
        return [virtual_key_of(row) for row in rows]

    async def read_ledger(
        self, tenant_id: UUID, account_id: UUID, before: int | None, limit: int
    ) -> Sequence[LedgerEntry]:
        await self.get_account(tenant_id, account_id)
        rows = await self._database.fetch(
            query("read_ledger"), tenant_id, account_id, before, limit
        )
        return [entry_of(row) for row in rows]

    async def usage_of_account(
        self, tenant_id: UUID, account_id: UUID, search: UsageSearch
    ) -> Sequence[UsageRow]:
        await self.get_account(tenant_id, account_id)
        span = (search.from_at, search.to_at)
        rows = await self._database.fetch(
            query("usage_of_account"), tenant_id, account_id, search.group_by, *span
        )
        return [_usage_row(row) for row in rows]

    async def check_ledger(self, tenant_id: UUID, account_id: UUID) -> LedgerCheck:
        row = await self._database.fetchrow(query("check_ledger"), tenant_id, account_id)
        if row is None:
            raise NotFound(f"no account {account_id}")
        return LedgerCheck(
            account_id=row["id"],
            account_name=row["name"],
            balance=row["balance"],
            entries=row["entries"],
            total=row["total"],
            wrong_entry=row["wrong_entry"],
            unwritten_charges=row["unwritten_charges"],
            uncharged_entries=row["uncharged_entries"],
        )

    async def means_of(self, caller: GraphCaller, api: ModelApi) -> Means:
        row = await self._database.fetchrow(
            query("means_of"), caller.tenant_id, caller.account_id, api, caller.grant_id
        )
        assert row is not None
        tenant_id, account = caller.tenant_id, None
        if row["account_id"] is not None:
            account = Account(
                row["account_id"],
                tenant_id,
                row["account_name"],
                row["balance"],
                row["account_created_at"],
            )
        return Means(row["now"], _grant(row, tenant_id), account, self._provider(row, caller, api))

    def _provider(self, row: Row, caller: GraphCaller, api: ModelApi) -> Provider | None:
        if row["key_id"] is None:
            return None
        plain = self._box.open(
            row["sealed"], tenant_id=caller.tenant_id, row_id=row["key_id"], column=VIRTUAL_KEY
        )
        return Provider(api, row["base_url"], Secret(plain))


def account_of(row: Row) -> Account:
    return Account(row["id"], row["tenant_id"], row["name"], row["balance"], row["created_at"])


def entry_of(row: Row) -> LedgerEntry:
    return LedgerEntry(
        row["id"],
        row["account_id"],
        row["at"],
        row["credits"],
        row["balance"],
        reason=row["reason"],
        reference=row["reference"],
    )


def virtual_key_of(row: Row) -> VirtualKey:
    return VirtualKey(
        row["id"],
        row["account_id"],
        row["name"],
        ModelApi(row["api"]),
        row["base_url"],
        hint=row["hint"],
        is_default=row["is_default"],
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )


def _grant(row: Row, tenant_id: UUID) -> Grant | None:
    if row["grant_id"] is None:
        return None
    return Grant(
        row["grant_id"],
        tenant_id,
        row["user_id"],
        row["grant_account_id"],
        tuple(row["scopes"]),
        created_at=row["grant_created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        schedule_id=row["schedule_id"],
    )


def _usage_row(row: Row) -> UsageRow:
    usage = TokenUsage(
        row["input_tokens"],
        row["output_tokens"],
        row["cache_read_tokens"],
        row["cache_write_tokens"],
    )
    return UsageRow(row["label"], row["calls"], row["estimated_calls"], usage, row["credits"])
