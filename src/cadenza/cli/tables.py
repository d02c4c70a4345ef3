"""Tables that fit a terminal: columns go by their rank, long texts are cut, names and ids last."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cadenza.cli.terminal_text import plain

if TYPE_CHECKING:
    from rich.table import Table

GAP = 2
LEAST_TEXT = 16  # to which a long text is cut before a column goes for it
LEAST_NAME = 8
ID_LENGTHS = (13, 18, 23)  # whole groups of digits: the first two are a millisecond
STYLES = {
    "success": "green", "failure": "red", "timeout": "red", "cancelled": "yellow",
    "error": "red", "skipped": "yellow", "waiting": "cyan", "running": "cyan",
    "paused": "yellow", "archived": "dim",
    "fails": "red", "late": "red", "bent": "cyan", "right": "green", "wrong": "red",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    cell: Callable[[Any], object]
    rank: int = 0  # the highest goes first where there is no room; 0 stays
    is_text: bool = False  # may be cut
    is_id: bool = False  # shown as far as tells it from the others


@dataclass(frozen=True, slots=True)
class Fitted:
    """The columns that are shown, how wide each is, and the titles of the others."""

    columns: Sequence[int]
    widths: Sequence[int]
    dropped: Sequence[str]


def cells_of(
    items: Sequence[Any], columns: Sequence[Column], *, whole_ids: bool = False
) -> list[list[str]]:
    """By column."""
    cells = [[plain(column.cell(item)) for item in items] for column in columns]
    return [
        short_ids(texts) if column.is_id and not whole_ids else texts
        for column, texts in zip(columns, cells, strict=True)
    ]


def short_ids(ids: Sequence[str]) -> list[str]:
    """As far as tells each from the others; the server takes an id by how it begins."""
    for length in ID_LENGTHS:
        if len({text[:length] for text in ids}) == len(set(ids)):
            return [text[:length] for text in ids]
    return list(ids)


def fitted(columns: Sequence[Column], natural: Sequence[int], room: int | None) -> Fitted:
    """Of so many characters; None: everything as wide as it is."""
    shown = list(range(len(columns)))
    if room is not None:
        shown = _with_room(columns, natural, room)
    widths = dict(zip(shown, (natural[index] for index in shown), strict=True))
    if room is not None:
        _cut(columns, widths, room - GAP * (len(shown) - 1))
    dropped = [column.title for index, column in enumerate(columns) if index not in shown]
    return Fitted(shown, [widths[index] for index in shown], dropped)


def _with_room(columns: Sequence[Column], natural: Sequence[int], room: int) -> list[int]:
    shown = list(range(len(columns)))

    def least(index: int) -> int:
        text = columns[index].is_text
        return min(natural[index], LEAST_TEXT) if text else natural[index]

    while sum(map(least, shown)) + GAP * (len(shown) - 1) > room:
        last = max(shown, key=lambda index: (columns[index].rank, index))
        if columns[last].rank == 0:
            break
        shown.remove(last)
    return shown


def _cut(columns: Sequence[Column], widths: dict[int, int], room: int) -> None:
    """Texts first, the longest of them; names after that, and never an id."""
    texts = [index for index in widths if columns[index].is_text]
    names = [index for index in widths if not columns[index].is_id]
    for candidates, least in ((texts, LEAST_TEXT), (names, LEAST_NAME)):
        while (over := sum(widths.values()) - room) > 0:
            longest = max(candidates, key=lambda index: widths[index], default=None)
            if longest is None or widths[longest] <= least:
                break
            widths[longest] = max(widths[longest] - over, least)


def table(columns: Sequence[Column], cells: Sequence[Sequence[str]], fit: Fitted) -> "Table":
    from rich.table import Table  # noqa: PLC0415 - it takes a while to load
    from rich.text import Text  # noqa: PLC0415

    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for index, width in zip(fit.columns, fit.widths, strict=True):
        title = columns[index].title
        shown.add_column(title, width=width, no_wrap=True, overflow="ellipsis")
    for row in zip(*(cells[index] for index in fit.columns), strict=True):
        shown.add_row(*(Text(cell, STYLES.get(cell.split(" ")[0], "")) for cell in row))
    return shown
