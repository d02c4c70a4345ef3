"""What an apply would change, as a person reads it: green comes, yellow changes, red goes."""

from collections.abc import Iterator, Sequence
from typing import Any

import typer

from cadenza.cli.changed_words import changed_words
from cadenza.cli.terminal_text import plain, shortened, text_of

WIDTH = 80  # of a line, which is what a terminal has at least
MOST_PLACES = 8  # where one text differs from another
_SIGNS = {"create": "+", "update": "~", "archive": "-", "delete": "-"}
_COLOURS = {"create": "green", "update": "yellow", "archive": "red", "delete": "red"}
_WORDS = {
    "create": ("to create", "created"),
    "update": ("to change", "changed"),
    "archive": ("to archive", "archived"),
    "delete": ("to delete", "deleted"),
    "unchanged": ("unchanged", "unchanged"),
}


def show_difference(changes: Sequence[dict[str, Any]]) -> None:
    for change in changes:
        colour = _COLOURS.get(change["act"])
        heading = f"{_SIGNS.get(change['act'], '?')} {_name(change)}"
        typer.echo(typer.style(plain(heading), fg=colour, bold=True))
        for field in change["fields"]:
            for line in field_lines(field):
                typer.echo(typer.style(line, fg=colour))


def summary(applied: dict[str, Any], *, done: bool) -> str:
    """`2 created, 1 changed, 40 unchanged`; jobs and endpoints alike."""
    counts = applied["counts"]
    parts = [
        f"{counts[kind]:,} {words[done]}" for kind, words in _WORDS.items() if counts.get(kind)
    ]
    return ", ".join(parts) or "nothing in it"


def field_lines(change: dict[str, Any]) -> Iterator[str]:
    """One line where it fits; otherwise what differs in it, a line for each place."""
    name, before, after = f"    {plain(change['field'])}:", change["before"], change["after"]
    if before is None or after is None:
        gone = " → (gone)" if after is None else ""
        room = max(WIDTH - len(name) - len(gone) - 1, WIDTH // 2)
        value = after if before is None else before
        yield f"{name} {shortened(plain(text_of(value)), room)}{gone}"
        return
    line = f"{name} {plain(text_of(before))} → {plain(text_of(after))}"
    if len(line) <= WIDTH:
        yield line
        return
    places = list(changed_words(text_of(before), text_of(after), WIDTH - 8))
    yield name
    yield from (f"        {place}" for place in places[:MOST_PLACES])
    if (more := len(places) - MOST_PLACES) > 0:
        yield f"        and in {more} more places"


def _name(change: dict[str, Any]) -> str:
    job, endpoint = change["job"], change["endpoint"]
    if job is None:
        return f"schedule {change['schedule']}"
    return f"job {job}" if endpoint is None else f"{job}/{endpoint}"
