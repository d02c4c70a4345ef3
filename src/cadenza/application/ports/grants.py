"""Grants: what is read of them, and a transaction's verbs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.application.ports.search_result import TimeCursor
from cadenza.domain.grant import Grant, GrantUse
from cadenza.domain.graph import GraphRequest


@dataclass(frozen=True, slots=True)
class Starting:
    """What the start of a run depends on, read when the run itself was locked."""

    request: GraphRequest
    grant: Grant | None
    balance: int


@dataclass(frozen=True, slots=True)
class LoggedUse:
    use: GrantUse
    at: datetime


class GrantReads(Protocol):
    async def list_grants(
        self, tenant_id: UUID, after: TimeCursor | None, limit: int
    ) -> Sequence[Grant]:
        """The newest first."""
        ...

    async def get_grant(
        self, tenant_id: UUID, grant_id: UUID, uses: int
    ) -> tuple[Grant, Sequence[LoggedUse]]:
        """With its last uses; NotFound where it is not there, or of another tenant."""
        ...


class GrantRows(Protocol):
    async def insert_grant(self, grant: Grant) -> None:
        """NotFound where the tenant has no such account."""
        ...

    async def lock_grant(self, tenant_id: UUID, grant_id: UUID) -> tuple[Grant, datetime]: ...

    async def save_grant(self, grant: Grant) -> None:
        """When it was revoked, and for which schedule it was made."""
        ...

    async def revoke_grants_of_user(self, tenant_id: UUID, user_id: UUID) -> None: ...

    async def revoke_grants_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[UUID]:
        """Those that were made for these endpoints and are in force; gives back which."""
        ...

    async def log_grant_uses(self, uses: Sequence[GrantUse]) -> None:
        """One statement, however many. A refusal of a run stays when it is logged again; a grant
        that is gone has no log."""
        ...

    async def take_expiring_grants(self, limit: int) -> Sequence[Grant]:
        """Those whose end is to be told of now; each is given once."""
        ...
