"""Grants: as they are read, and a transaction's verbs for them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.rows import GrantRow, GrantUseRow
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.grants import LoggedUse
from cadenza.application.ports.search_result import TimeCursor
from cadenza.domain.grant import Grant, GrantUse


class MemoryGrants:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def list_grants(
        self, tenant_id: UUID, after: TimeCursor | None, limit: int
    ) -> Sequence[Grant]:
        rows = self._tables.grants.values()
        grants = [row.grant for row in rows if row.grant.tenant_id == tenant_id]
        earlier = [grant for grant in grants if after is None or _cursor_of(grant) < after]
        return sorted(earlier, key=_cursor_of, reverse=True)[:limit]

    async def get_grant(
        self, tenant_id: UUID, grant_id: UUID, uses: int
    ) -> tuple[Grant, Sequence[LoggedUse]]:
        grant = self._tables.grant(tenant_id, grant_id).grant
        rows = self._tables.grant_uses.values()
        logged = [row.logged for row in rows if row.logged.use.grant_id == grant_id]
        logged.sort(key=lambda use: (use.at, use.use.run_id), reverse=True)
        return grant, logged[:uses]


def _cursor_of(grant: Grant) -> TimeCursor:
    return grant.created_at, grant.id


class MemoryGrantRows(Writes):
    async def insert_grant(self, grant: Grant) -> None:
        self._tables.account(grant.tenant_id, grant.account_id)
        self._put(self._tables.grants, grant.id, GrantRow(grant))

    async def lock_grant(self, tenant_id: UUID, grant_id: UUID) -> tuple[Grant, datetime]:
        return self._tables.grant(tenant_id, grant_id).grant, self._now

    async def save_grant(self, grant: Grant) -> None:
        row = self._tables.grants[grant.id]
        self._put(self._tables.grants, grant.id, replace(row, grant=grant))

    async def revoke_grants_of_user(self, tenant_id: UUID, user_id: UUID) -> None:
        for row in list(self._tables.grants.values()):
            grant = row.grant
            if (grant.tenant_id, grant.user_id) == (tenant_id, user_id) and not grant.revoked_at:
                await self.save_grant(replace(grant, revoked_at=self._now))

    async def revoke_grants_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[UUID]:
        rows = self._tables.grants.values()
        revoked = [
            row.grant
            for row in rows
            if row.grant.endpoint_id in endpoint_ids and row.grant.revoked_at is None
        ]
        for grant in revoked:
            await self.save_grant(replace(grant, revoked_at=self._now))
        return [grant.id for grant in revoked]

    async def log_grant_uses(self, uses: Sequence[GrantUse]) -> None:
        for use in uses:
            row, key = self._tables.grants.get(use.grant_id), (use.grant_id, use.run_id)
            if row is None:
                continue
            logged = LoggedUse(use, self._now)
            if (present := self._tables.grant_uses.get(key)) is not None:
                before = present.logged
                refusal = use.refusal or before.use.refusal
                logged = replace(before, use=replace(before.use, refusal=refusal))
            self._put(self._tables.grant_uses, key, GrantUseRow(row.tenant_id, logged))

    async def take_expiring_grants(self, limit: int) -> Sequence[Grant]:
        now, taken = self._now, list[Grant]()
        for row in sorted(self._tables.grants.values(), key=_notice_at)[:]:
            notice_at = row.grant.expiry_notice_at
            if len(taken) == limit or notice_at is None or notice_at > now:
                continue
            if row.expiry_notified_at is None and row.grant.revoked_at is None:
                self._put(self._tables.grants, row.grant.id, replace(row, expiry_notified_at=now))
                taken.append(row.grant)
        return taken


def _notice_at(row: GrantRow) -> float:
    notice_at = row.grant.expiry_notice_at
    return float("inf") if notice_at is None else notice_at.timestamp()
