"""The file of a backup: a zip with PostgreSQL's own dump, what it is, and on request the keys.

The dump is written as it comes, and what the file is at its end: one that was cut off says so.
"""

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from cadenza.domain.errors import InstallationError

FORMAT = 1
DUMP, ABOUT, KEYS = "database.dump", "backup.json", "master.key"
MOST_ABOUT = 1024 * 1024
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(RuntimeError, ValueError),  # an encrypted entry, or one of another method; a name in no code
)


@dataclass(frozen=True, slots=True)
class About:
    """What a backup is of."""

    format: int
    cadenza: str
    made_at: str
    postgres: int  # the major version of the server
    tools: int  # and that of the programs which wrote the dump
    migrations: Mapping[int, str]  # the digest of each
    key_ids: Sequence[str]  # of the master keys that its secrets need
    has_keys: bool
    counts: Mapping[str, int]


@contextmanager
def written(path: Path) -> Generator[zipfile.ZipFile]:
    """Under another name until it is whole; readable by its owner alone."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(unfinished, flags, 0o600), "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                yield archive
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def new_dump(archive: zipfile.ZipFile) -> IO[bytes]:
    return archive.open(DUMP, "w", force_zip64=True)


def add_about(archive: zipfile.ZipFile, about: About, keys: str | None) -> None:
    if keys is not None:
        archive.writestr(KEYS, keys)
    archive.writestr(ABOUT, json.dumps(asdict(about), indent=2))


@contextmanager
def opened(path: Path) -> Generator[zipfile.ZipFile]:
    with _reading(path):
        archive = zipfile.ZipFile(path)
    with archive:
        yield archive


@contextmanager
def _reading(path: Path) -> Generator[None]:
    """What a file that was damaged or forged makes the library raise, in words."""
    try:
        yield
    except OSError as error:
        raise InstallationError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UNREADABLE as error:
        raise _damaged(path, str(error) or "it ends too early") from error


def about_of(archive: zipfile.ZipFile, path: Path) -> About:
    names = archive.namelist()
    if DUMP not in names or ABOUT not in names:
        raise _damaged(path, "it holds no backup of Cadenza")
    if archive.getinfo(ABOUT).file_size > MOST_ABOUT:
        raise _damaged(path, f"{ABOUT} in it is too large")
    with _reading(path):
        values: Any = archive.read(ABOUT)
    try:
        about = TypeAdapter(About).validate_json(values)
    except ValidationError as error:
        raise _damaged(path, f"{ABOUT} in it cannot be read") from error
    if about.format != FORMAT:
        raise InstallationError(
            f"{path} has the form {about.format}, this version reads {FORMAT}. Restore it with "
            f"Cadenza {about.cadenza}, which made it, or a later one."
        )
    return about


def keys_of(archive: zipfile.ZipFile) -> str | None:
    if KEYS not in archive.namelist() or archive.getinfo(KEYS).file_size > MOST_ABOUT:
        return None
    return archive.read(KEYS).decode("ascii", "replace")


def check_whole(archive: zipfile.ZipFile, path: Path) -> None:
    with _reading(path):
        bad = archive.testzip()
    if bad is not None:
        raise _damaged(path, f"{bad} in it has been changed")


def _damaged(path: Path, why: str) -> InstallationError:
    return InstallationError(
        f"{path} is no whole backup ({why}). Nothing was restored. Take another one."
    )
