"""Tables that fit a terminal: columns go by their rank, long texts are cut, names and ids last."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cadenza.cli.terminal_text import plain

if TYPE_CHECKING:
    from rich.table import Table

GAP = 2
LEAST_TEXT = 16  # to which a long text is cut before a column goes for it
READABLE_TEXT = 32  # to which it is cut before the job goes from an endpoint's name
LEAST_ENDPOINT = 28
LEAST_NAME = 8
ID_LENGTHS = (13, 18, 23)  # whole groups of digits: the first two are a millisecond
STYLES = {
    "success": "green", "failure": "red", "timeout": "red", "cancelled": "yellow",
    "error": "red", "skipped": "yellow", "waiting": "cyan", "running": "cyan",
    "paused": "yellow", "archived": "dim",
    "failing": "red", "late": "red", "hinted": "cyan", "ok": "green", "warning": "yellow",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    cell: Callable[[Any], object]
    rank: int = 0  # the highest goes first where there is no room; 0 stays
    is_text: bool = False  # may be cut
    is_id: bool = False  # shown as far as tells it from the others
    is_endpoint: bool = False  # `job/endpoint`; it loses of its job before anything of its own


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
    visible = list(range(len(columns)))
    if room is not None:
        visible = _with_room(columns, natural, room)
    widths = dict(zip(visible, (natural[index] for index in visible), strict=True))
    if room is not None:
        _cut(columns, widths, room - GAP * (len(visible) - 1))
    dropped = [column.title for index, column in enumerate(columns) if index not in visible]
    return Fitted(visible, [widths[index] for index in visible], dropped)


def _with_room(columns: Sequence[Column], natural: Sequence[int], room: int) -> list[int]:
    visible = list(range(len(columns)))

    def least(index: int) -> int:
        text = columns[index].is_text
        return min(natural[index], LEAST_TEXT) if text else natural[index]

    while sum(map(least, visible)) + GAP * (len(visible) - 1) > room:
        last = max(visible, key=lambda index: (columns[index].rank, index))
        if columns[last].rank == 0:
            break
        visible.remove(last)
    return visible


def _cut(columns: Sequence[Column], widths: dict[int, int], room: int) -> None:
    """Texts first, the longest of them; then the jobs of endpoints; names last, and never an id."""
    texts = [index for index in widths if columns[index].is_text]
    endpoints = [index for index in widths if columns[index].is_endpoint]
    names = [index for index in widths if not columns[index].is_id]
    steps = (
        *((texts, READABLE_TEXT), (endpoints, LEAST_ENDPOINT)),
        *((texts, LEAST_TEXT), (names, LEAST_NAME)),
    )
    for candidates, least in steps:
        while (over := sum(widths.values()) - room) > 0:
            longest = max(candidates, key=lambda index: widths[index], default=None)
            if longest is None or widths[longest] <= least:
                break
            widths[longest] = max(widths[longest] - over, least)


def shorter_endpoint(name: str, width: int) -> str:
    """Endpoints of one job begin alike: what is cut is the job, as long as that is enough."""
    job, _, own = name.rpartition("/")
    room = max(width - len(own) - len("…/"), 0)
    return name if len(name) <= width or not job else f"{job[:room]}…/{own}"


def table(columns: Sequence[Column], cells: Sequence[Sequence[str]], fit: Fitted) -> "Table":
    from rich.table import Table  # noqa: PLC0415 - it takes a while to load
    from rich.text import Text  # noqa: PLC0415

    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for index, width in zip(fit.columns, fit.widths, strict=True):
        title = columns[index].title
        made.add_column(title, width=width, no_wrap=True, overflow="ellipsis")
    shown_cells = [
        [shorter_endpoint(cell, width) for cell in cells[index]]
        if columns[index].is_endpoint
        else cells[index]
        for index, width in zip(fit.columns, fit.widths, strict=True)
    ]
    for row in zip(*shown_cells, strict=True):
        made.add_row(*(Text(cell, STYLES.get(cell.split(" ")[0], "")) for cell in row))
    return made
