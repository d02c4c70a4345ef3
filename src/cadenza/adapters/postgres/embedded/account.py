"""Which user the server runs as: PostgreSQL refuses to run as root."""

import os
import pwd
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cadenza.domain.errors import InstallationError

# The user has to be in the user database (initdb looks it up), so no free number will do.
CANDIDATES = ("cadenza", "postgres", "nobody")


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int


def server_account(data: Path) -> Account | None:
    """None for an ordinary user, who runs the server as himself."""
    if os.geteuid() != 0:
        return None
    # A cluster stays with its user: an ordinary user's cluster opened with sudo remains his.
    with suppress(FileNotFoundError):
        owner = data.stat()
        if owner.st_uid != 0:
            return Account(f"user {owner.st_uid}", owner.st_uid, owner.st_gid)
    for name in CANDIDATES:
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            return Account(name, user.pw_uid, user.pw_gid)
    raise InstallationError(
        "PostgreSQL refuses to run as root, and none of the users it could run as exists here "
        f"({', '.join(CANDIDATES)}). Add one (`useradd --system cadenza`), run Cadenza as an "
        "ordinary user, or set a database URL."
    )
