"""Targets: what an endpoint calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

DEFAULT_TIMEOUT = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class HttpTarget:
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None
    timeout: timedelta = DEFAULT_TIMEOUT

    @property
    def host(self) -> str:
        """What the limit of requests in flight per host counts by."""
        return (urlsplit(self.url).hostname or "").lower()


Target = HttpTarget
