"""What is backed up and restored, and the ways to its database and its master keys."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from cadenza.adapters.postgres.database import Database, is_pooler
from cadenza.adapters.postgres.embedded.archive import WalArchive
from cadenza.adapters.secrets.keys import MasterKeys
from cadenza.domain.errors import InstallationError


@dataclass(frozen=True, slots=True)
class Installation:
    is_embedded: bool  # its database
    server_folder: Path  # of an embedded one
    wal_archive: WalArchive | None
    listen_database_url: SecretStr | None
    database_pooler: bool | None
    master_key: SecretStr | None  # the setting; else they are in the file
    key_file: Path
    read_keys: Callable[[Callable[[str], None]], MasterKeys]  # with where to warn
    database_url: Callable[[], AbstractContextManager[str]]  # runs an embedded one meanwhile
    open_database: Callable[[str], AbstractAsyncContextManager[Database]]

    @property
    def keys_are_in(self) -> str:
        return "CADENZA_MASTER_KEY" if self.master_key else str(self.key_file)

    async def session_url(self, url: str) -> str:
        """The server itself: a dump takes many statements of a session, which no pooler gives."""
        if self.listen_database_url is not None:
            return self.listen_database_url.get_secret_value()
        if self.database_pooler or (self.database_pooler is None and await is_pooler(url)):
            raise InstallationError(
                "CADENZA_DATABASE_URL leads to a pooler, which shares its sessions out. Name the "
                "server itself in CADENZA_LISTEN_DATABASE_URL."
            )
        return url
