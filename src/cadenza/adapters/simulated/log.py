"""The log of a simulation: one JSON line an event, the same bytes for the same seed."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from cadenza.application.ports.events import Event
from cadenza.domain.instants import iso


@dataclass(slots=True)
class EventLog:
    events: list[Event] = field(default_factory=list[Event])

    def wants(self, kind: str) -> bool:
        return bool(kind)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def lines(self) -> list[str]:
        return [_line(event) for event in self.events]

    def sha256(self) -> str:
        return sha256("\n".join(self.lines()).encode()).hexdigest()


def _line(event: Event) -> str:
    entry = {
        "at": iso(event.at),
        "kind": event.kind,
        "endpoint": event.endpoint_name,
        "endpoint_id": str(event.endpoint_id),
        **event.data,
    }
    return json.dumps(entry, default=_plain, sort_keys=True, ensure_ascii=False)


def _plain(value: object) -> str:
    return iso(value) if isinstance(value, datetime) else str(value)
