"""Grants: somebody allows scheduled graphs to run on their behalf, at an account's cost."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from cadenza.domain.errors import InvalidInput
from cadenza.domain.graph import check_graph_id

EXECUTE = "graph:execute:"
EXECUTE_ANY = "graph:execute:*"
LONGEST_NOTICE = timedelta(days=7)


class GrantRefusal(StrEnum):
    """Why a run is not started, in the order in which it is asked."""

    MISSING = "grant_missing"
    REVOKED = "grant_revoked"
    EXPIRED = "grant_expired"
    SCOPE = "grant_scope"


@dataclass(frozen=True, slots=True)
class Grant:
    id: UUID
    tenant_id: UUID
    user_id: UUID
    account_id: UUID
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    schedule_id: UUID | None = None  # made for this one, and revoked with it
    endpoint_id: UUID | None = None  # likewise

    def allows(self, graph_id: str) -> bool:
        return EXECUTE_ANY in self.scopes or EXECUTE + graph_id in self.scopes

    @property
    def expiry_notice_at(self) -> datetime | None:
        """When its end is told of: a week before, or for the last tenth of a shorter life."""
        if self.expires_at is None:
            return None
        return self.expires_at - min(LONGEST_NOTICE, (self.expires_at - self.created_at) / 10)


@dataclass(frozen=True, slots=True)
class GrantUse:
    """A run that asked for it; without a refusal it was good."""

    grant_id: UUID
    run_id: UUID
    graph_id: str
    refusal: GrantRefusal | None = None


def refusal(grant: Grant | None, graph_id: str, now: datetime) -> GrantRefusal | None:
    if grant is None:
        return GrantRefusal.MISSING
    if grant.revoked_at is not None and grant.revoked_at <= now:
        return GrantRefusal.REVOKED
    if grant.expires_at is not None and grant.expires_at <= now:
        return GrantRefusal.EXPIRED
    return None if grant.allows(graph_id) else GrantRefusal.SCOPE


def check_scopes(scopes: tuple[str, ...]) -> None:
    if not scopes or len(scopes) > 100:
        raise InvalidInput("scopes", list(scopes), "from 1 to 100 scopes")
    for number, scope in enumerate(scopes):
        path = f"scopes[{number}]"
        if scope == EXECUTE_ANY:
            continue
        if not scope.startswith(EXECUTE):
            raise InvalidInput(path, scope, f"{EXECUTE}<graph id>, or {EXECUTE_ANY}")
        check_graph_id(scope.removeprefix(EXECUTE), path)
