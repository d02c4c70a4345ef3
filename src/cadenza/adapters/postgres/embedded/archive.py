"""Where the server's log is kept, and the base backups that a way back begins with.

`wal/` has the log in pieces, compressed: a piece that is switched early is nearly empty. `base/`
has a folder for each base backup: `data`, the password of that time, and `about.json`, which is
written last: a folder without it is none.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from cadenza.adapters.postgres.embedded.process import ENVIRONMENT, Account
from cadenza.domain.errors import InstallationError

SWITCHED_AFTER = "5min"  # the most that a lost disk takes along
ABOUT = "about.json"
REST = "log_of_before"
PIECE = re.compile(r"([0-9A-F]{8})([0-9A-F]{16})(\..*)?\.gz")


@dataclass(frozen=True, slots=True)
class BaseBackup:
    folder: Path
    made_at: datetime  # by the server's clock, when it was whole: no way leads to before that
    first_piece: str  # of the log that it needs


@dataclass(frozen=True, slots=True)
class WalArchive:
    folder: Path

    @property
    def pieces(self) -> Path:
        return self.folder / "wal"

    @property
    def bases(self) -> Path:
        return self.folder / "base"

    @property
    def settings(self) -> dict[str, str]:
        """A piece appears under its name when it is whole and on disk; none is ever replaced, but
        by itself after a crash in between."""
        name = f"{_quoted(self.pieces)}/%f.gz"
        written = f"gzip -c %p > {name}.new && sync {name}.new && mv {name}.new {name}"
        same = f"gzip -dc {name} | cmp -s - %p"
        command = f"if test -f {name}; then {same}; else {written}; fi"
        return {
            "archive_mode": "on",
            "archive_command": command,
            "archive_timeout": SWITCHED_AFTER,
        }

    def recovery(self, until: datetime) -> dict[str, str]:
        """Settings of a server that goes on from a base backup to that instant; in REST, below its
        data, may be pieces that were not archived any more."""
        name = f"{_quoted(self.pieces)}/%f.gz"
        command = f"if test -f {name}; then gzip -dc {name} > %p; else cp {REST}/%f %p; fi"
        return {
            "hot_standby": "off",  # it is ready when it is there, and not on its way
            "restore_command": command,
            "recovery_target_time": until.isoformat(),
            "recovery_target_action": "promote",
            # What is refused in the end leaves no branch in the archive, which the next way back
            # would follow. What is taken is archived from its first start on.
            "archive_command": "false",
        }

    def prepare(self, account: Account | None) -> None:
        """Made where it is missing, and given to whom the server runs as."""
        for folder in (self.pieces, self.bases):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if account is None:
            return
        os.chown(self.pieces, account.uid, account.gid)
        tried = subprocess.run(  # noqa: S603 - a program of the system
            ["/usr/bin/test", "-w", str(self.pieces)], user=account.uid, group=account.gid,
            extra_groups=[], env=ENVIRONMENT, cwd="/", check=False,
        )  # fmt: skip
        if tried.returncode != 0:
            raise InstallationError(
                f"CADENZA_WAL_ARCHIVE: {account.name}, whom the database runs as, cannot reach "
                f"{self.pieces}. Name a folder below one that every user may enter."
            )

    def base_backups(self) -> Sequence[BaseBackup]:
        """The oldest first."""
        known = sorted(self.bases.glob(f"*/{ABOUT}")) if self.bases.is_dir() else []
        return [_read(path) for path in known]

    def add(self, base: BaseBackup) -> None:
        about = {**asdict(base), "folder": base.folder.name, "made_at": base.made_at.isoformat()}
        with (base.folder / ABOUT).open("w") as file:
            json.dump(about, file)
            file.flush()
            os.fsync(file.fileno())

    def keep(self, count: int) -> int:
        """The newest so many, with the log since the first of these; how many have gone."""
        bases = self.base_backups()
        old, remaining = bases[:-count], bases[-count:]
        for base in old:
            (base.folder / ABOUT).unlink()
            shutil.rmtree(base.folder)
        if old:
            self._forget_before(remaining[0].first_piece)
        return len(old)

    def _forget_before(self, first: str) -> None:
        for path in self.pieces.iterdir():
            match = PIECE.fullmatch(path.name)
            if match and match[2] < first[8:]:  # whichever timeline it is of
                path.unlink()


def _read(path: Path) -> BaseBackup:
    try:
        about = json.loads(path.read_text())
        made_at = datetime.fromisoformat(about["made_at"])
        return BaseBackup(path.parent, made_at, about["first_piece"])
    except (OSError, ValueError, KeyError) as error:
        raise InstallationError(f"{path} cannot be read: {error}.") from error


def _quoted(path: Path) -> str:
    """For the shell, and for PostgreSQL, to which % begins a placeholder."""
    return shlex.quote(str(path)).replace("%", "%%")
