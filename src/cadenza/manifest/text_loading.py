"""Files as text: which ones, how large, and in what encoding."""

import os
from collections.abc import Iterator
from pathlib import Path

from yaml.reader import Reader

from cadenza.manifest.problems import Problem, SourceLocation

MAX_BYTES = 10 * 1024 * 1024  # of all files together
MAX_FILES = 10_000
ENDINGS = (".yaml", ".yml")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Unreadable(Exception):
    """A file, or a folder, that gives no text."""

    def __init__(self, location: SourceLocation, text: str) -> None:
        self.problem = Problem(location, "", text)
        super().__init__(str(self.problem))


def or_stdin(path: Path) -> Path:
    """A dash is standard input."""
    return Path("/dev/stdin") if str(path) == "-" else path


def files_at(path: Path) -> list[Path]:
    """The file itself, or every YAML file below a folder, sorted; hidden ones are left out."""
    if not path.is_dir():
        return [path]
    try:
        files = sorted(_files_below(path))
    except OSError as error:
        raise Unreadable(SourceLocation(str(error.filename or path)), _why(error)) from error
    if not files:
        text = f"no file in it ends in {' or '.join(ENDINGS)}; name a file, or another folder"
        raise Unreadable(SourceLocation(str(path)), text)
    if len(files) > MAX_FILES:
        text = f"more than {MAX_FILES:,} files; name a smaller folder"
        raise Unreadable(SourceLocation(str(path)), text)
    return files


def _files_below(folder: Path) -> Iterator[Path]:
    """Links to folders are not followed: they may lead in a circle."""

    def give_up(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(folder, onerror=give_up):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            if name.lower().endswith(ENDINGS) and not name.startswith(".") and path.is_file():
                yield path


def read_text(path: Path, most: int = MAX_BYTES) -> tuple[str, int]:
    """The text without a byte order mark, and how many bytes it took."""
    file = str(path)
    try:
        with path.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as error:
        raise Unreadable(SourceLocation(file), _why(error)) from error
    if len(data) > most:
        text = f"too large: {MAX_BYTES // 1024 // 1024} MiB in all are the most"
        raise Unreadable(SourceLocation(file), text)
    return decoded(file, data), len(data)


def decoded(file: str, data: bytes) -> str:
    """Unreadable where it is no text, at the place where it is not."""
    if data.startswith(_UTF_16):
        raise Unreadable(SourceLocation(file), "it is UTF-16: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        fix = f"the byte 0x{data[error.start]:02X} is not UTF-8 text: save the file as UTF-8"
        raise Unreadable(SourceLocation.after(file, before), fix) from error
    if (control := Reader.NON_PRINTABLE.search(text)) is not None:
        fix = f"the character U+{ord(control[0]):04X} is not allowed: is this a text file?"
        raise Unreadable(SourceLocation.after(file, text[: control.start()]), fix)
    return text


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder; check the path"
    if isinstance(error, PermissionError):
        return "it may not be read; check who owns it and its permissions"
    return f"it cannot be read: {error.strerror or error}"
