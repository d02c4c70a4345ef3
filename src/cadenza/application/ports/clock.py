from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The one source of time. In production it follows the database's clock."""

    def now(self) -> datetime: ...

    async def sleep(self, duration: timedelta) -> None: ...
