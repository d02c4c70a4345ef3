"""Something that must never be."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Violation:
    name: str
    endpoint_id: UUID
    at: datetime
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.endpoint_id} at {self.at.isoformat()}: {self.text}"
