"""What a run sent, rebuilt from its endpoint's target with secrets masked.

Requests are not stored with runs, which would write every body a second time. The result is exact
where the target has not changed since the run was claimed; else it says since when it may differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cadenza.application.ports.run_search import RunAround
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.instants import iso
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import Run
from cadenza.domain.target import KEPT, HttpTarget, ShellTarget


@dataclass(frozen=True, slots=True)
class SentRequest:
    kind: str  # http, shell, graph, function or queue
    is_exact: bool
    changed_at: datetime | None  # of the target, where it is not exact
    method: str | None = None
    url: str | None = None
    headers: Mapping[str, str] | None = None
    body: Any = None
    command: tuple[str, ...] = ()
    graph_id: str | None = None
    function: str | None = None
    topic: str | None = None


def sent_request(run: Run, around: RunAround) -> SentRequest:
    target, changed_at = around.target, around.target_changed_at
    is_exact = changed_at is None or changed_at <= run.claimed_at
    when = (is_exact, None if is_exact else changed_at)
    if isinstance(target, HttpTarget):
        headers = _headers(target, run)
        what = (target.method, target.url, headers, target.body)
        return SentRequest("http", *when, *what)
    if isinstance(target, ShellTarget):
        return SentRequest("shell", *when, command=target.command)
    if isinstance(target, QueueTarget):
        what = (None, target.url, _headers(target, run), target.body)
        return SentRequest("queue", *when, *what, topic=target.topic)
    if isinstance(target, GraphTarget):
        return SentRequest("graph", *when, body=target.input, graph_id=target.graph_id)
    return SentRequest("function", *when, function=target.path)


def _headers(target: HttpTarget | QueueTarget, run: Run) -> dict[str, str]:
    """As the dispatcher makes them, without the signature."""
    return {
        **target.headers,
        **(dict.fromkeys(target.secret_headers, KEPT) if isinstance(target, HttpTarget) else {}),
        "Idempotency-Key": f"{run.endpoint_id}:{iso(run.slot_at)}",
        "Cadenza-Attempt": str(run.attempt),
        "Cadenza-Slot": iso(run.slot_at),
    }
