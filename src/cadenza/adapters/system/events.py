"""Events as log lines: only those that somebody should hear of, for runs come by the thousand."""

from datetime import datetime
from typing import Any

import structlog

from cadenza.application.ports.events import Event
from cadenza.domain.instants import iso

TOLD = {
    "run.unsaved": "error",
    "run.late": "warning",
    "run.lease_lost": "warning",
    "run.given_back": "info",
    "provider.away": "warning",
    "quota.warning": "warning",
    "session.over_quota": "warning",
}
log = structlog.get_logger()


class LoggedEvents:
    def wants(self, kind: str) -> bool:
        return kind in TOLD

    def emit(self, event: Event) -> None:
        write = getattr(log, TOLD[event.kind])
        write(event.kind, endpoint=event.endpoint_name, **_plain(event.data))


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    return {
        key: iso(value) if isinstance(value, datetime) else value for key, value in data.items()
    }
