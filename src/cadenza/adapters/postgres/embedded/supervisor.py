"""The embedded PostgreSQL as its owner sees it: start, stop, and a DSN in between."""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from cadenza.adapters.postgres.embedded.archive import WalArchive
from cadenza.adapters.postgres.embedded.cluster import (
    USER,
    allow_copies,
    made_by,
    make_cluster,
    password_of,
    remove_stale_pid_file,
)
from cadenza.adapters.postgres.embedded.installation import choose_installation
from cadenza.adapters.postgres.embedded.interrupted import undo_interrupted
from cadenza.adapters.postgres.embedded.lock import held
from cadenza.adapters.postgres.embedded.process import GuardedProcess, Scope, server_account
from cadenza.adapters.postgres.embedded.readable import CACHES, readable_by
from cadenza.adapters.postgres.embedded.server import (
    SECONDS_TO_START,
    ensure_database,
    start_server,
)
from cadenza.adapters.postgres.embedded.trouble import explained
from cadenza.domain.errors import InvalidInput


class EmbeddedPostgres:
    """A server that lives in `folder` and no longer than this program.

    `settings` are PostgreSQL's own (`{"fsync": "off"}` for a test). `binaries` names the `bin`
    folder of an installation to use instead of a search; `caches` are folders for a copy of it
    where root runs an installation that no other user can read. With an `archive` the server keeps
    its log there.
    """

    def __init__(
        self,
        folder: Path,
        *,
        database: str = "cadenza",
        settings: Mapping[str, str] | None = None,
        binaries: Path | None = None,
        caches: Sequence[Path] = CACHES,
        archive: WalArchive | None = None,
        patience: float = SECONDS_TO_START,
    ) -> None:
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", database):
            raise InvalidInput("database", database, "small letters, digits and _, at most 63")
        self._folder = folder.absolute()
        self._database = database
        self._settings = dict(settings or {})
        self._binaries = binaries
        self._caches = caches
        self._archive = archive
        self._patience = patience
        self._process: GuardedProcess | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    def start(self) -> str:
        """Make what is missing, start the server, and return the DSN once it takes connections."""
        with explained(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with held(self._folder / "server.lock") as lock, ExitStack() as on_failure:
                on_failure.callback(self.stop)
                dsn = self._start_locked(lock)
                on_failure.pop_all()
        return dsn

    def _start_locked(self, lock: int) -> str:
        undo_interrupted(self._folder)
        data = self._folder / "data"
        account = server_account(data)
        major = made_by(data)
        installation = choose_installation(self._binaries, major)
        installation = readable_by(account, installation, self._caches)
        if major is None:
            sync = self._settings.get("fsync") != "off"
            make_cluster(self._folder, installation, account, lock, sync=sync)
        remove_stale_pid_file(data)
        scope = Scope(data, account, lock)
        password = password_of(self._folder, installation, scope)
        settings = self._settings
        if self._archive is not None:
            self._archive.prepare(account)
            allow_copies(data)
            settings = {**self._archive.settings, **settings}
        self._process, port = start_server(
            self._folder, installation, scope, settings, self._patience
        )
        ensure_database(self._folder, port, password, self._database)
        # Without sslmode a client looks for certificates in its home folder, which may be closed.
        address = f"127.0.0.1:{port}/{self._database}?sslmode=disable"
        return f"postgresql://{USER}:{password}@{address}"

    def stop(self) -> None:
        """End the server cleanly: transactions under way are rolled back, all is on disk."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
