"""What the governor needs to know of cron."""

from datetime import datetime
from typing import Protocol


class Cron(Protocol):
    def next_after(self, expression: str, timezone: str, after: datetime) -> datetime:
        """The first occurrence strictly after an instant; InvalidCron where there is none."""
        ...
