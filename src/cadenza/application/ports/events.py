from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Event:
    at: datetime
    kind: str
    tenant_id: UUID
    endpoint_id: UUID
    endpoint_name: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])


class Events(Protocol):
    def wants(self, kind: str) -> bool:
        """Whether anybody listens for this kind; runs come by the thousand."""
        ...

    def emit(self, event: Event) -> None:
        """Tell whoever listens; never waits and never fails the caller."""
        ...
