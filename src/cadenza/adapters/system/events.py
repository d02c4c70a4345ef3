"""Events as log lines: only those that somebody should hear of, for runs come by the thousand."""

import structlog

from cadenza.application.ports.events import Event

TOLD = {"run.late": "warning", "run.lease_lost": "warning", "run.given_back": "info"}
log = structlog.get_logger()


class LoggedEvents:
    def emit(self, event: Event) -> None:
        level = TOLD.get(event.kind)
        if level is not None:
            getattr(log, level)(event.kind, endpoint=event.endpoint_name, **event.data)
