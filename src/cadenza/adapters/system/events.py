"""Events as log lines: only those that somebody should hear of, for runs come by the thousand."""

import structlog

from cadenza.application.ports.events import Event

TOLD = {"run.late": "warning", "run.lease_lost": "warning", "run.given_back": "info"}
log = structlog.get_logger()


class LoggedEvents:
    def wants(self, kind: str) -> bool:
        return kind in TOLD

    def emit(self, event: Event) -> None:
        write = getattr(log, TOLD[event.kind])
        write(event.kind, endpoint=event.endpoint_name, **event.data)
