"""Events as log lines: only those that the admin should see, since there are thousands of runs."""

from datetime import datetime

import structlog

from cadenza.application.ports.events import Event
from cadenza.domain.instants import iso

LEVELS = {
    "run.unsaved": "error",
    "run.late": "warning",
    "run.lease_lost": "warning",
    "run.given_back": "info",
    "provider.away": "warning",
    "provider.back": "info",
    "quota.warning": "warning",
    "session.failed": "warning",
    "session.over_quota": "warning",
    "session.unpaid": "warning",
}
log = structlog.get_logger()


class LoggedEvents:
    def wants(self, kind: str) -> bool:
        return kind in LEVELS

    def emit(self, event: Event) -> None:
        write = getattr(log, LEVELS[event.kind])
        data = event.data.items()
        fields = {key: iso(it) if isinstance(it, datetime) else it for key, it in data}
        ids = {"tenant_id": str(event.tenant_id), "endpoint_id": str(event.endpoint_id)}
        write(event.kind, endpoint=event.endpoint_name, **{**ids, **fields})
