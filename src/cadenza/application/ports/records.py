"""What is kept besides runs: sessions and the audit log, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from cadenza.application.ports.search_result import SearchResult, Span
from cadenza.domain.analysis import AnalysisState
from cadenza.domain.session import Session


@dataclass(frozen=True, slots=True)
class SessionSearch(Span):
    endpoint_id: UUID | None = None
    job_id: UUID | None = None
    brain: str | None = None
    search: str | None = None  # a piece of the reasoning
    job_ids: frozenset[UUID] | None = None  # only of these; None: of all


@dataclass(frozen=True, slots=True)
class AuditSearch(Span):
    actor: str | None = None  # a piece of it
    action: str | None = None
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditRecord:
    id: UUID  # a number, written as every other id in a cursor
    at: datetime
    actor: str
    action: str
    subject: str
    data: dict[str, Any]


class Records(Protocol):
    async def search_sessions(
        self, tenant_id: UUID, search: SessionSearch
    ) -> SearchResult[Session]: ...

    async def get_session(self, tenant_id: UUID, session_id: UUID) -> Session: ...

    async def analyses_of(self, tenant_id: UUID, endpoint_id: UUID) -> Sequence[AnalysisState]:
        """By brain; NotFound where there is no such endpoint."""
        ...

    async def search_audit(
        self, tenant_id: UUID, search: AuditSearch, /
    ) -> SearchResult[AuditRecord]: ...

    async def audit_of_job(
        self, tenant_id: UUID, job_id: UUID, search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        """What was done to a job and to its endpoints."""
        ...
