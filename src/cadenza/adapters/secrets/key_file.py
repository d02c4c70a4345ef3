"""The master keys in a file of ours: made at the first start, readable by its owner only.

One key a line, the first one seals. Programs that run while a key is added need no restart: the
file is read again for an unknown key, and before each sealing.
"""

import base64
import fcntl
import os
import re
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from cadenza.adapters.secrets.keys import KEY_BYTES, MasterKey, MasterKeys, read_keys
from cadenza.domain.errors import InstallationError

HEADER = """\
# Cadenza's master keys, one a line: the first one encrypts, all of them decrypt.
# Keep a copy in a safe place. Without it the secrets in the database are lost.
"""
LARGEST = 64 * 1024
Version = tuple[int, int, int]


class KeyFile(MasterKeys):
    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        """Read it, and make it first where there is none."""
        self._path = path.absolute()
        super().__init__({}, str(self._path))
        self._warn = warn
        self._version: Version = (0, 0, 0)
        _make_folder(self._path.parent)
        with self._explained():
            if not self._path.exists():
                with self._locked():
                    if not self._path.exists():  # another program may have been quicker
                        self._write(HEADER + _new_key())
        self._refresh()

    def writing(self) -> MasterKey:
        """As the file has it now: a key that is in memory only would be lost with this process."""
        self._refresh()
        return super().writing()

    def find(self, key_id: str) -> MasterKey | None:
        if key_id not in self._keys:
            with suppress(InstallationError):  # it says less than that the key is missing
                self._refresh()
        return super().find(key_id)

    def add_key(self) -> MasterKey:
        """A new first key."""
        with self._explained(), self._locked():
            text, _ = self._read()
            read_keys(text, self.where)  # what cannot be read is not written again
            keys = text.splitlines(keepends=True)
            first = next(n for n, line in enumerate(keys) if line.partition("#")[0].strip())
            self._write("".join([*keys[:first], _new_key(), *keys[first:]]))
        return self.writing()

    def take(self, text: str) -> None:
        """Keys that came from elsewhere; those that are there stay first, for they encrypt."""
        read_keys(text, "what was brought")
        lines = (line.partition("#")[0] for line in text.splitlines())
        brought = [key for line in lines for key in re.split(r"[,\s]+", line) if key]
        with self._explained(), self._locked():
            before, _ = self._read()
            known = {line.strip() for line in before.splitlines()}
            added = [f"{key}\n" for key in brought if key not in known]
            self._write("\n".join([before.rstrip("\n"), "".join(added)]))
        self._refresh()

    def _refresh(self) -> None:
        with self._explained():
            if _version(self._path.stat()) == self._version:
                return
            text, self._version = self._read()
        self._keys = read_keys(text, self.where)

    def _read(self) -> tuple[str, Version]:
        # A named pipe instead of the file must not block us.
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
                raise InstallationError(f"{self.where} is not a file of keys. Move it away.")
            self._close_to_others(descriptor, stat.S_IMODE(status.st_mode))
            return os.read(descriptor, LARGEST).decode("ascii", "replace"), _version(status)
        finally:
            os.close(descriptor)

    def _close_to_others(self, descriptor: int, mode: int) -> None:
        if not mode & (stat.S_IRWXG | stat.S_IRWXO):
            return
        try:
            os.fchmod(descriptor, 0o600)
        except OSError as error:
            raise InstallationError(
                f"{self.where} is open to other users (mode {mode:03o}), and it is not ours to "
                "change. Let its owner run: chmod 600. Then start again."
            ) from error
        self._warn(
            f"{self.where} was open to other users (mode {mode:03o}); it is closed to them now. "
            "If one of them may have read it, make a new key: cadenza secrets rotate"
        )

    def _write(self, text: str) -> None:
        """Under another name first, so that no program ever reads half of it."""
        unfinished = self._path.with_name(f"{self._path.name}.new")
        unfinished.unlink(missing_ok=True)  # of a program that was killed right here
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(unfinished, flags, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """One program at a time makes or changes the file; the lock ends with its holder."""
        path = self._path.with_name(f"{self._path.name}.lock")
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise InstallationError(
                f"The master key in {self.where} cannot be used: {error.strerror}. Put the file "
                "back or let this user read and write it, or set CADENZA_MASTER_KEY."
            ) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InstallationError(
            f"The data folder {folder} cannot be made: {error.strerror}. Start where this user may "
            "write, or set CADENZA_DATA_FOLDER to another folder; with CADENZA_MASTER_KEY the key "
            "needs none."
        ) from error


def _new_key() -> str:
    return base64.b64encode(os.urandom(KEY_BYTES)).decode() + "\n"


def _version(status: os.stat_result) -> Version:
    return status.st_ino, status.st_mtime_ns, status.st_size
