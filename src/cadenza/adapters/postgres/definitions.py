"""Endpoints with what they call. Secrets stay sealed, unless a call needs them."""

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import (
    Row,
    endpoint_of,
    endpoint_values,
    target_json,
    target_of,
    to_text,
)
from cadenza.adapters.postgres.secrets import HEADERS, with_secret_headers
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain import steering
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InvalidInput, NotFound, Refused, SecretUnreadable
from cadenza.domain.plan import SOURCES
from cadenza.domain.target import KEPT, HttpTarget, Secret, Target


def stored_endpoint(row: Row, spread: timedelta) -> StoredEndpoint:
    target = target_of(row["target"])
    if isinstance(target, HttpTarget) and row["secret_headers"] is not None:
        target = replace(target, secret_headers=json.loads(row["secret_headers"]))
    return StoredEndpoint(
        endpoint_of(row, spread),
        with_secrets_masked(target),
        row["revision"],
        row["job_name"],
        row["now"],
        row["next_run_at"],
        SOURCES.get(row["next_source"]),
    )


def with_secrets_masked(target: Target) -> Target:
    """That there are secrets, and under which names."""
    if not isinstance(target, HttpTarget) or not target.secret_headers:
        return target
    return replace(target, secret_headers=dict.fromkeys(target.secret_headers, Secret(KEPT)))


def with_secrets(row: Row, stored: StoredEndpoint, box: SecretBox) -> StoredEndpoint:
    """SecretUnreadable where its master key is gone."""
    target, endpoint = stored.target, stored.endpoint
    if not isinstance(target, HttpTarget) or row["secret_headers"] is None:
        return stored
    opened = with_secret_headers(
        box,
        target,
        row["secret_headers"],
        tenant_id=endpoint.tenant_id,
        endpoint_id=endpoint.id,
    )
    return replace(stored, target=opened)


async def add_endpoint(
    connection: Connection,
    endpoint: Endpoint,
    target: Target,
    secrets: "StoredSecrets",
    cron: Cron,
) -> Endpoint:
    """A new endpoint of a job that is there, with its first plan."""
    job = await connection.fetchrow(query("share_job"), endpoint.tenant_id, endpoint.job_id)
    if job is None:
        raise NotFound(f"no job {endpoint.job_id}")
    if job["archived_at"] is not None:
        raise Refused("the job is archived")
    if job["paused_until"] is not None:
        endpoint = replace(endpoint, job_paused_until=job["paused_until"])
    now = await connection.fetchval(query("database_time"))
    planned = steering.begin(endpoint, now, cron)
    await connection.execute(query("add_endpoint"), *new_endpoint_values(planned, target, secrets))
    await connection.execute(query("save_endpoint"), *endpoint_values(planned), False)
    return planned


def new_endpoint_values(
    endpoint: Endpoint, target: Target, secrets: "StoredSecrets"
) -> tuple[Any, ...]:
    """The parameters of add_endpoint, in its order."""
    return (
        endpoint.id,
        endpoint.tenant_id,
        endpoint.job_id,
        to_text(endpoint.name),
        endpoint.created_at,
        target_json(target),
        target.host,
        secrets.sealed(target),
    )


@dataclass(frozen=True, slots=True)
class StoredSecrets:
    """The sealed headers of one endpoint, and how further ones are sealed."""

    box: SecretBox
    tenant_id: UUID
    endpoint_id: UUID
    stored: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, row: asyncpg.Record, box: SecretBox) -> "StoredSecrets":
        stored = json.loads(row["secret_headers"] or "{}")
        return cls(box, row["tenant_id"], row["id"], stored)

    @property
    def stored_text(self) -> str | None:
        return json.dumps(self.stored) if self.stored else None

    def sealed(self, target: Target) -> str | None:
        """What the column takes. A secret that did not change keeps its ciphertext."""
        if not isinstance(target, HttpTarget) or not target.secret_headers:
            return None
        return json.dumps(
            {name: self._sealed(name, each.value) for name, each in target.secret_headers.items()}
        )

    def _sealed(self, name: str, wanted: str) -> str:
        present = self.stored.get(name)
        if wanted == KEPT:
            if present is None:
                fix = f"{KEPT} keeps a stored secret, and none is stored: give its value"
                raise InvalidInput(f"secret_headers.{name}", KEPT, fix)
            return present
        if present is not None and self._opened(name, present) == wanted:
            return present
        return self.box.seal(wanted, **self._place(name))

    def _opened(self, name: str, sealed: str) -> str | None:
        try:
            return self.box.open(sealed, **self._place(name))
        except SecretUnreadable:
            return None  # it can still be replaced

    def _place(self, name: str) -> dict[str, Any]:
        column = f"{HEADERS}:{name}"
        return {"tenant_id": self.tenant_id, "row_id": self.endpoint_id, "column": column}
