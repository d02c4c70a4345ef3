"""The lines of a crontab, read as cron reads them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_SETTING = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z_][A-Za-z0-9_]*))\s*=\s*(.*)""")
_IN_QUOTES = re.compile(r"""^(["'])(.*)\1$""")
_NICKNAME = re.compile(r"(@\S+)[ \t]+(.*)")
_FIELDS = re.compile(r"((?:\S+[ \t]+){4}\S+)[ \t]+(.*)")
_UNLOGGED = re.compile(r"^-(?=[\d*])")  # some crons then write nothing to the system's log
_USER = re.compile(r"(\S+)[ \t]+(.*)")
_LIKE_A_SCHEDULE = re.compile(r"(?:@\w+|(?:[\d*][\d*/,\-]*[ \t]+){4}\S+)[ \t]+\S")
_HEADING = re.compile(r"m(?:in)?\s+h(?:our)?\s+(?:dom|day)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that runs something, with the settings above it."""

    line: int
    schedule: str
    command: str  # as it is written, with its % signs
    description: str = ""
    user: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Setting:
    line: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Unread:
    line: int
    text: str


def read_lines(text: str, *, system: bool) -> Iterator[Entry | Setting | Unread]:
    """Comments right above a line describe it."""
    settings: dict[str, str] = {}
    comments: list[str] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip("\r").lstrip(" \t")
        if line.startswith("#"):
            comments.append(line.lstrip("#").strip())
            continue
        if line.strip():
            read = _line(number, line, system=system, settings=settings, comments=comments)
            if isinstance(read, Setting):
                settings = {**settings, read.name: read.value}
            yield read
        comments = []


def _line(
    number: int, line: str, *, system: bool, settings: Mapping[str, str], comments: list[str]
) -> Entry | Setting | Unread:
    if (setting := _SETTING.fullmatch(line)) is not None:
        name = next(group for group in setting.groups()[:3] if group is not None)
        return Setting(number, name, _IN_QUOTES.sub(r"\2", setting[4].strip()))
    entry = _NICKNAME.fullmatch(line) or _FIELDS.fullmatch(line)
    if entry is None:
        return Unread(number, line)
    schedule, command, user = " ".join(entry[1].split()), entry[2], None
    schedule = _UNLOGGED.sub("", schedule)
    if system and (owned := _USER.fullmatch(command)) is not None:
        user, command = owned[1], owned[2]
    if not command.strip() or (system and user is None):
        return Unread(number, line)
    return Entry(number, schedule, command.rstrip(" \t"), _description(comments), user, settings)


def _description(comments: list[str]) -> str:
    """Without lines that were taken out of use, and without the heading of the columns."""
    texts = [
        text for text in comments if not _LIKE_A_SCHEDULE.match(text) and not _HEADING.match(text)
    ]
    return "\n".join(texts).strip()
