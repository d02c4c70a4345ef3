"""Targets: what an endpoint calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

DEFAULT_TIMEOUT = timedelta(seconds=30)
MAX_TIMEOUT = timedelta(minutes=30)
KEPT = "***"  # in place of a secret: the one that is stored


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that is shown to nobody: encrypted at rest, masked wherever it is printed."""

    value: str

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"


@dataclass(frozen=True, slots=True)
class HttpTarget:
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    body: str | None = None
    timeout: timedelta = DEFAULT_TIMEOUT
    max_redirects: int = 0
    success_statuses: tuple[int, ...] = ()  # none given: every 2xx
    success_when: str | None = None  # a CEL expression over `status` and `body`

    @property
    def host(self) -> str:
        """What the limit of requests in flight per host counts by."""
        return (urlsplit(self.url).hostname or "").lower()


@dataclass(frozen=True, slots=True)
class ShellTarget:
    """A command as a list of arguments; no shell reads it."""

    command: tuple[str, ...]
    folder: str | None = None
    timeout: timedelta = DEFAULT_TIMEOUT

    @property
    def host(self) -> str:
        return "shell"


Target = HttpTarget | ShellTarget
