"""How a command shows its result: a table on a terminal, JSON elsewhere or with --json."""

import sys
import textwrap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from cadenza.cli.tables import GAP, Column, cells_of, fitted, table
from cadenza.cli.terminal_text import json_text, plain, plain_lines
from cadenza.cli.times import Times

if TYPE_CHECKING:
    from rich.console import Console

Item = Mapping[str, Any]
LEAST_WRAPPED = 20
WIDE = 160  # where there is no terminal whose width it could have


class Output:
    def __init__(self, times: Times, *, as_json: bool, wide: bool = False) -> None:
        self.times = times
        self.as_json = as_json
        self.wide = wide

    def rows(
        self,
        items: Iterable[Item],
        columns: Sequence[Column],
        empty: str,
        limit: int | None = None,
    ) -> None:
        """JSON lines as they come, or one table; where there is nothing, what to do next."""
        if self.as_json:
            for item in items:
                typer.echo(json_text(item))
        elif rows := list(items):
            self._table(rows, columns)
            if len(rows) == limit and sys.stderr.isatty():
                self.note(f"Showing {limit}; there may be more: use --limit.")
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
                first, *others = wrapped(plain_lines(str(value)), width + GAP)
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
        from rich.cells import cell_len  # noqa: PLC0415 - it takes a while to load

        cells = cells_of(items, columns, whole_ids=self.wide)
        natural = [
            max(map(cell_len, (column.title, *texts)))
            for column, texts in zip(columns, cells, strict=True)
        ]
        room = None if self.wide else console().width
        fit = fitted(columns, natural, room)
        console(sum(fit.widths) + GAP * len(fit.widths)).print(table(columns, cells, fit))
        if fit.dropped and sys.stderr.isatty():
            self.note(f"Not shown: {', '.join(fit.dropped)}. --wide shows all.")


def wrapped(text: str, indent: int) -> list[str]:
    """Its lines; on a terminal those that are too long are broken between words."""
    lines = text.split("\n")
    if not sys.stdout.isatty():
        return lines
    room = max(console().width - indent, LEAST_WRAPPED)
    pieces = (
        textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False) or [""]
        for line in lines
    )
    return [piece for broken in pieces for piece in broken]


def console(width: int | None = None) -> "Console":
    """As wide as the terminal, unless it is said how wide."""
    from rich.console import Console  # noqa: PLC0415

    usual = None if sys.stdout.isatty() else WIDE
    return Console(width=width or usual, highlight=False, emoji=False)
