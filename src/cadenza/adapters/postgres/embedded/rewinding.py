"""A cluster brought back to an instant: beside the old one, until it is whole."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from cadenza.adapters.postgres.embedded.archive import REST, BaseBackup, WalArchive
from cadenza.adapters.postgres.embedded.interrupted import KEPT, WORK, undo_interrupted
from cadenza.adapters.postgres.embedded.lock import held
from cadenza.adapters.postgres.embedded.process import server_account
from cadenza.adapters.postgres.embedded.supervisor import EmbeddedPostgres
from cadenza.domain.errors import InstallationError

SECONDS = 86_400.0  # a long log takes its time
ENDED_BEFORE = "recovery ended before configured recovery target was reached"
LAST = re.compile(r"last completed transaction was at log time (\S+ \S+)")


def check_free(folder: Path) -> None:
    """InstallationError where a server of ours lives in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held(folder / "server.lock"):
        pass


def rewind(
    folder: Path,
    archive: WalArchive,
    base: BaseBackup,
    until: datetime,
    stamp: str,
    check: Callable[[str], None],
) -> Path | None:
    """Where the data is kept that was there; None where there was none. `check` is given the
    address of the server as it was at that instant, and may still refuse it."""
    data, work = folder / "data", folder / f"{WORK}{stamp}"
    with held(folder / "server.lock"), ExitStack() as on_end:
        undo_interrupted(folder)
        on_end.callback(shutil.rmtree, work, ignore_errors=True)
        _copy(base, data, work)
        settings = archive.recovery(until)
        server = EmbeddedPostgres(work, settings=settings, archive=archive, patience=SECONDS)
        try:
            with server as url:
                check(url)
        except InstallationError as error:
            raise _in_plain_words(error, until) from error
        return _take_place(folder, work, stamp)


def _copy(base: BaseBackup, data: Path, work: Path) -> None:
    account = server_account(data)
    work.mkdir(mode=0o700)
    shutil.copytree(base.folder / "data", work / "data", symlinks=True)
    (work / "data" / "recovery.signal").touch()
    (work / "data" / REST).mkdir(mode=0o700)
    for piece in (data / "pg_wal").glob("[0-9A-F]*[0-9A-F]"):
        os.link(piece, work / "data" / REST / piece.name)
    known = data.parent / "password"
    shutil.copy2(known if known.exists() else base.folder / "password", work / "password")
    if account is not None:
        for path, _, files in os.walk(work / "data"):
            for name in (path, *(os.path.join(path, file) for file in files)):
                os.chown(name, account.uid, account.gid, follow_symlinks=False)
    (work / "data").chmod(0o700)


def _take_place(folder: Path, work: Path, stamp: str) -> Path | None:
    data, aside = folder / "data", folder / f"{KEPT}{stamp}"
    there = data.exists()
    shutil.rmtree(work / "data" / REST)
    if there:
        data.rename(aside)
    (work / "data").rename(data)
    (work / "password").rename(folder / "password")
    return aside if there else None


def _in_plain_words(error: InstallationError, until: datetime) -> InstallationError:
    text = str(error)
    if ENDED_BEFORE not in text:
        return error
    last = LAST.search(text)
    ends = f" The last change in it is of {last[1]} UTC." if last else ""
    return InstallationError(
        f"The log does not reach beyond {until.isoformat()}, so that nobody can tell what came "
        f"then.{ends} Choose an instant before its end. Nothing was changed."
    )
