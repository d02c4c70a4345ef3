"""What the commands need from the machine and the environment; a root hands it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it takes a while to load, and only files are checked
    from cadenza.manifest.checking import Checks

DEFAULT_URL = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask, and with which key; where the key came from is said when it opens nothing."""

    url: str
    key: str | None
    key_from: str

    def __repr__(self) -> str:
        return f"Server({self.url!r}, ***)"


@dataclass(frozen=True, slots=True)
class CliContext:
    environment: Mapping[str, str]
    now: Callable[[], datetime]
    local: Callable[[datetime], datetime]  # an instant in the person's zone
    find_server: Callable[[str | None, str | None], Server]  # --server and --key, where given
    find_admin: Callable[[str | None, str | None], Server]
    checks: Callable[[], Checks]
    new_id: Callable[[], object]
    sleep: Callable[[float], None]
