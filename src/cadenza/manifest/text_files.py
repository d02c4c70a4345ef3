"""Files as text: which ones, how large, and in what encoding."""

import os
from collections.abc import Iterator
from pathlib import Path

from yaml.reader import Reader

from cadenza.manifest.problems import Place, Problem

MAX_BYTES = 10 * 1024 * 1024  # of all files together
MAX_FILES = 10_000
ENDINGS = (".yaml", ".yml")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Unreadable(Exception):
    """A file, or a folder, that gives no text."""

    def __init__(self, place: Place, what: str) -> None:
        self.problem = Problem(place, "", what)
        super().__init__(str(self.problem))


def files_at(path: Path) -> list[Path]:
    """The file itself, or every YAML file below a folder, sorted; hidden ones are left out."""
    if not path.is_dir():
        return [path]
    try:
        found = sorted(_below(path))
    except OSError as error:
        raise Unreadable(Place(str(error.filename or path)), _why(error)) from error
    if not found:
        what = f"no file in it ends in {' or '.join(ENDINGS)}; name a file, or another folder"
        raise Unreadable(Place(str(path)), what)
    if len(found) > MAX_FILES:
        raise Unreadable(Place(str(path)), f"more than {MAX_FILES:,} files; name a smaller folder")
    return found


def _below(folder: Path) -> Iterator[Path]:
    """Links to folders are not followed: they may lead in a circle."""

    def give_up(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=give_up):
        folders[:] = [each for each in folders if not each.startswith(".")]
        for name in files:
            path = Path(place, name)
            if name.lower().endswith(ENDINGS) and not name.startswith(".") and path.is_file():
                yield path


def read_text(path: Path, most: int = MAX_BYTES) -> tuple[str, int]:
    """The text without a byte order mark, and how many bytes it took."""
    file = str(path)
    try:
        with path.open("rb") as opened:
            data = opened.read(most + 1)
    except OSError as error:
        raise Unreadable(Place(file), _why(error)) from error
    if len(data) > most:
        what = f"too large: {MAX_BYTES // 1024 // 1024} MiB in all are the most"
        raise Unreadable(Place(file), what)
    return _decoded(file, data), len(data)


def _decoded(file: str, data: bytes) -> str:
    if data.startswith(_UTF_16):
        raise Unreadable(Place(file), "it is UTF-16: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place.behind(file, data[: error.start].decode("utf-8", "replace"))
        what = f"the byte 0x{data[error.start]:02X} is not UTF-8 text: save the file as UTF-8"
        raise Unreadable(place, what) from error
    if (strange := Reader.NON_PRINTABLE.search(text)) is not None:
        what = f"the character U+{ord(strange[0]):04X} is not allowed: is this a text file?"
        raise Unreadable(Place.behind(file, text[: strange.start()]), what)
    return text


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder; check the path"
    if isinstance(error, PermissionError):
        return "it may not be read; check who owns it and its permissions"
    return f"it cannot be read: {error.strerror or error}"
