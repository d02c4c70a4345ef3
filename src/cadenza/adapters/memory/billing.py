"""Accounts that pay for models, as they are read."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC
from functools import reduce
from uuid import UUID

from cadenza.adapters.memory.rows import ChargeRow
from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.billing import Means, UsageGroup, UsageRow, UsageSearch
from cadenza.application.ports.gateway import Provider
from cadenza.domain.billing import (
    CHARGE,
    Account,
    Basis,
    LedgerCheck,
    LedgerEntry,
    ModelApi,
    TokenUsage,
    VirtualKey,
)
from cadenza.domain.graph import GraphCaller


class MemoryBilling:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def list_accounts(
        self, tenant_id: UUID, name: str | None, after: tuple[str, UUID] | None, limit: int
    ) -> Sequence[Account]:
        accounts = [
            account
            for account in self._tables.accounts.values()
            if account.tenant_id == tenant_id
            and name in (None, account.name)
            and (after is None or (account.name, account.id) > after)
        ]
        return sorted(accounts, key=lambda account: (account.name, account.id))[:limit]

    async def get_account(self, tenant_id: UUID, account_id: UUID) -> Account:
        return self._tables.account(tenant_id, account_id)

    async def list_virtual_keys(self, tenant_id: UUID, account_id: UUID) -> Sequence[VirtualKey]:
        self._tables.account(tenant_id, account_id)
        rows = self._tables.virtual_keys.values()
        keys = [row.key for row in rows if row.key.account_id == account_id]
        return sorted(keys, key=lambda key: (key.created_at, key.id))

    async def read_ledger(
        self, tenant_id: UUID, account_id: UUID, before: int | None, limit: int
    ) -> Sequence[LedgerEntry]:
        self._tables.account(tenant_id, account_id)
        entries = reversed(self._entries(account_id))
        return [entry for entry in entries if before is None or entry.id < before][:limit]

    async def usage_of_account(
        self, tenant_id: UUID, account_id: UUID, search: UsageSearch
    ) -> Sequence[UsageRow]:
        self._tables.account(tenant_id, account_id)
        groups = defaultdict[str | None, list[ChargeRow]](list)
        for row in self._tables.charges.values():
            is_after = search.from_at is None or row.at >= search.from_at
            is_before = search.to_at is None or row.at < search.to_at
            if row.charge.account_id == account_id and is_after and is_before:
                groups[_group(row, search.group_by)].append(row)
        rows = [_usage_row(group, charges) for group, charges in groups.items()]
        if search.group_by is UsageGroup.DAY:
            return sorted(rows, key=lambda row: row.group or "")
        return sorted(rows, key=lambda row: (-row.credits, row.group is None, row.group or ""))

    async def check_ledger(self, tenant_id: UUID, account_id: UUID) -> LedgerCheck:
        account = self._tables.account(tenant_id, account_id)
        entries, total, wrong = self._entries(account_id), 0, None
        for entry in entries:
            total += entry.credits
            if entry.balance != total and wrong is None:
                wrong = entry.id
        charges = [row.charge for row in self._tables.charges.values()]
        spent = {
            (charge.reference, charge.credits)
            for charge in charges
            if charge.account_id == account_id
        }
        written = {(entry.reference, -entry.credits) for entry in entries if entry.reason == CHARGE}
        return LedgerCheck(
            account_id,
            account.name,
            account.balance,
            len(entries),
            total,
            wrong,
            unwritten_charges=len(spent - written),
            uncharged_entries=len(written - spent),
        )

    async def means_of(self, caller: GraphCaller, api: ModelApi) -> Means:
        tables = self._tables
        account = tables.accounts.get(caller.account_id)
        grant = tables.grants.get(caller.grant_id)
        rows = (
            row
            for row in tables.virtual_keys.values()
            if row.key.account_id == caller.account_id and row.key.api is api and row.key.is_default
        )
        row = next(rows, None)
        provider = None
        if row is not None and row.secret is not None:
            provider = Provider(api, row.key.base_url, row.secret)
        return Means(
            tables.clock.now(), grant.grant if grant is not None else None, account, provider
        )

    def _entries(self, account_id: UUID) -> list[LedgerEntry]:
        rows = self._tables.ledger.values()
        entries = (row.entry for row in rows if row.entry.account_id == account_id)
        return sorted(entries, key=lambda entry: entry.id)


def _group(row: ChargeRow, group_by: UsageGroup) -> str | None:
    charge = row.charge
    if group_by is UsageGroup.DAY:
        return f"{row.at.astimezone(UTC):%Y-%m-%d}"
    if group_by is UsageGroup.SCHEDULE:
        return None if charge.schedule_id is None else str(charge.schedule_id)
    if group_by is UsageGroup.ENDPOINT:
        return None if charge.endpoint_id is None else str(charge.endpoint_id)
    if group_by is UsageGroup.GRAPH:
        return charge.graph_id
    if group_by is UsageGroup.JOB:
        return None if charge.job_id is None else str(charge.job_id)
    return charge.model if group_by is UsageGroup.MODEL else str(charge.account_id)


def _usage_row(group: str | None, rows: Sequence[ChargeRow]) -> UsageRow:
    charges = [row.charge for row in rows]
    estimated = sum(charge.basis is Basis.ESTIMATED for charge in charges)
    usage = _sum(charge.usage for charge in charges)
    return UsageRow(
        group, len(charges), estimated, usage, sum(charge.credits for charge in charges)
    )


def _sum(usages: Iterable[TokenUsage]) -> TokenUsage:
    return reduce(TokenUsage.plus, usages, TokenUsage())
