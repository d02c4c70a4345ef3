"""What endpoints call: targets as JSON, their secret headers sealed beside them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.rows import MILLISECOND, Row, endpoint_of
from cadenza.adapters.postgres.storable import from_json, to_json
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.errors import SecretUnreadable
from cadenza.domain.function_target import FunctionTarget, function_target
from cadenza.domain.graph import GraphLimits
from cadenza.domain.graph_target import GraphTarget, Mandate
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import SOURCES
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.target import (
    KEPT,
    HttpTarget,
    Secret,
    ShellTarget,
    Target,
    secrets_of,
    with_secrets,
)

HEADERS = "endpoints.secret_headers"
TargetValues = tuple[str, str, str, str, list[str]]


def target_json(target: Target) -> str:
    if isinstance(target, GraphTarget):
        return to_json({"kind": "graph", **_graph_fields(target)})
    if isinstance(target, FunctionTarget):
        timeout_ms = milliseconds(target.timeout)
        return to_json({"kind": "function", "function": target.path, "timeout_ms": timeout_ms})
    if isinstance(target, QueueTarget):
        return to_json({"kind": "queue", **_queue_fields(target)})
    if isinstance(target, ShellTarget):
        return to_json(
            {
                "kind": "shell",
                "command": list(target.command),
                "folder": target.folder,
                "timeout_ms": milliseconds(target.timeout),
            }
        )
    return to_json(
        {
            "kind": "http",
            "url": target.url,
            "method": target.method,
            "headers": dict(target.headers),
            "body": target.body,
            "timeout_ms": milliseconds(target.timeout),
            "max_redirects": target.max_redirects,
            "success_statuses": list(target.success_statuses),
            "success_when": target.success_when,
            "awaits_result": target.awaits_result,
        }
    )


@lru_cache(maxsize=10_000)
def target_of(text: str, sealed: str | None = None) -> Target:
    """Its secrets are there by name."""
    stored = from_json(text)
    if stored["kind"] == "graph":
        return _graph_of(stored)
    timeout = stored["timeout_ms"] * MILLISECOND
    if stored["kind"] == "function":
        return function_target(stored["function"], timeout)
    if stored["kind"] == "shell":
        return ShellTarget(tuple(stored["command"]), stored["folder"], timeout)
    secrets = dict.fromkeys(json.loads(sealed), Secret(KEPT)) if sealed else {}
    if stored["kind"] == "queue":
        return with_secrets(_queue_of(stored), secrets)
    return HttpTarget(
        url=stored["url"],
        method=stored["method"],
        headers=stored["headers"],
        secret_headers=secrets,
        body=stored["body"],
        timeout=timeout,
        max_redirects=stored.get("max_redirects", 0),
        success_statuses=tuple(stored.get("success_statuses", ())),
        success_when=stored.get("success_when"),
        awaits_result=stored.get("awaits_result", False),
    )


def _queue_fields(target: QueueTarget) -> dict[str, Any]:
    """`url` is also what searches look at."""
    return {
        "url": target.url,
        "method": "POST",  # the version before takes it for an HTTP target, and says what is wrong
        "topic": target.topic,
        "exchange": target.exchange,
        "headers": dict(target.headers),
        "body": target.body,
        "timeout_ms": milliseconds(target.timeout),
        "awaits_result": target.awaits_result,
        "reply_to": target.reply_to,
    }


def _queue_of(stored: dict[str, Any]) -> QueueTarget:
    fields = {name: stored[name] for name in stored if name not in ("kind", "method", "timeout_ms")}
    return QueueTarget(**fields, timeout=stored["timeout_ms"] * MILLISECOND)


def _graph_fields(target: GraphTarget) -> dict[str, Any]:
    limits, mandate = target.limits, target.mandate
    assert mandate is not None, "a graph is stored with its mandate"
    return {
        "graph_id": target.graph_id,
        "input": dict(target.input),
        "limits": {**asdict(limits), "time": milliseconds(limits.time)},
        "grant_id": None if target.grant_id is None else str(target.grant_id),
        "account": target.account,
        "mandate": {name: str(value) for name, value in asdict(mandate).items()},
    }


def _graph_of(stored: dict[str, Any]) -> GraphTarget:
    limits = stored["limits"]
    grant_id = stored["grant_id"]
    return GraphTarget(
        stored["graph_id"],
        stored["input"],
        GraphLimits(**{**limits, "time": limits["time"] * MILLISECOND}),
        None if grant_id is None else UUID(grant_id),
        stored["account"],
        Mandate(**{name: UUID(value) for name, value in stored["mandate"].items()}),
    )


def stored_endpoint(
    row: Row, spread: timedelta, secrets: Mapping[str, Secret] | None = None
) -> StoredEndpoint:
    return StoredEndpoint(
        endpoint_of(row, spread),
        target_of(row["target"], row["secret_headers"]),
        row["job_name"],
        row["now"],
        row["next_run_at"],
        SOURCES.get(row["next_source"]),
        row["revision"],
        row["failing_since"],
        secrets or {},
    )


# --- Secret headers -------------------------------------------------------------------------


def open_headers(
    box: SecretBox, sealed: str | None, *, tenant_id: UUID, endpoint_id: UUID
) -> dict[str, Secret]:
    """The headers that the column holds; SecretUnreadable where one of them does not open."""
    stored: dict[str, str] = json.loads(sealed) if sealed is not None else {}
    return {
        name: Secret(box.open(value, **_location(tenant_id, endpoint_id, name)))
        for name, value in stored.items()
    }


def headers_that_open(box: SecretBox, row: Row) -> dict[str, Secret]:
    """Without those whose master key is gone: they can still be replaced, or kept as they are."""
    stored: dict[str, str] = json.loads(row["secret_headers"] or "{}")
    opened: dict[str, Secret] = {}
    for name, value in stored.items():
        try:
            location = _location(row["tenant_id"], row["id"], name)
            opened[name] = Secret(box.open(value, **location))
        except SecretUnreadable:
            continue
    return opened


def target_values(
    box: SecretBox, target: Target, *, tenant_id: UUID, endpoint_id: UUID
) -> TargetValues:
    """The target, its host, who runs it, the headers that are sealed now, and the names of those
    that stay."""
    secrets = secrets_of(target)
    sealed = {
        name: box.seal(secret.value, **_location(tenant_id, endpoint_id, name))
        for name, secret in secrets.items()
        if secret.value != KEPT
    }
    unchanged = [name for name in secrets if name not in sealed]
    return target_json(target), target.host, target.runs_on, json.dumps(sealed), unchanged


def _location(tenant_id: UUID, endpoint_id: UUID, name: str) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "row_id": endpoint_id, "column": f"{HEADERS}:{name}"}
