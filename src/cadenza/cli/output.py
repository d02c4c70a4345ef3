"""How a command shows its result: a table on a terminal, JSON elsewhere or with --json."""

import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from cadenza.cli.terminal_text import json_text, plain, plain_lines
from cadenza.cli.times import Times

if TYPE_CHECKING:
    from rich.console import Console

Item = Mapping[str, Any]
WIDE = 160  # where there is no terminal whose width it could have
STYLES = {
    "success": "green", "failure": "red", "timeout": "red", "cancelled": "yellow",
    "error": "red", "skipped": "yellow", "waiting": "cyan", "running": "cyan",
    "paused": "yellow", "archived": "dim",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    cell: Callable[[Any], object]
    keep_whole: bool = False  # an id is of no use when it is cut


class Output:
    def __init__(self, times: Times, *, as_json: bool) -> None:
        self.times = times
        self.as_json = as_json

    def rows(self, items: Iterable[Item], columns: Sequence[Column], empty: str) -> None:
        """JSON lines as they come, or one table; where there is nothing, what to do next."""
        if self.as_json:
            for item in items:
                typer.echo(json_text(item))
        elif rows := list(items):
            self._table(rows, columns)
        else:
            typer.echo(empty)

    def one(self, item: Item, lines: Sequence[tuple[str, object]]) -> None:
        """Names and values, one below the other; what is empty is left out."""
        if self.as_json:
            typer.echo(json_text(item))
            return
        width = max(len(name) for name, value in lines if value not in (None, ""))
        for name, value in lines:
            if value not in (None, ""):
                first, *others = plain_lines(str(value)).split("\n")
                typer.echo(f"{name:<{width}}  {first}")
                for line in others:
                    typer.echo(f"{'':<{width}}  {line}")

    def done(self, item: Item, message: str) -> None:
        typer.echo(json_text(item) if self.as_json else plain_lines(message))

    def note(self, message: str) -> None:
        """On stderr, so that it does not mix with the result."""
        typer.echo(plain_lines(message), err=True)

    @contextmanager
    def working(self, what: str) -> Generator[None]:
        """Something moves while a person waits."""
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console  # noqa: PLC0415 - only where it is needed

        with Console(stderr=True).status(plain(what)):
            yield

    def _table(self, items: Sequence[Item], columns: Sequence[Column]) -> None:
        from rich.table import Table  # noqa: PLC0415 - it takes a while to load
        from rich.text import Text  # noqa: PLC0415

        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(
                column.title,
                no_wrap=column.keep_whole,
                overflow="fold" if column.keep_whole else "ellipsis",
            )
        for item in items:
            cells = [plain(column.cell(item)) for column in columns]
            table.add_row(*(Text(cell, STYLES.get(cell.split(" ")[0], "")) for cell in cells))
        console().print(table)


def console() -> "Console":
    from rich.console import Console  # noqa: PLC0415

    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, emoji=False)
