"""What an apply would change, as a person reads it: green comes, yellow changes, red goes."""

from collections.abc import Sequence
from typing import Any

import typer

from cadenza.cli.terminal_text import json_text, plain, shortened

_SIGNS = {"create": "+", "update": "~", "archive": "-"}
_COLOURS = {
    "create": typer.colors.GREEN,
    "update": typer.colors.YELLOW,
    "archive": typer.colors.RED,
}
_WORDS = {
    "create": ("to create", "created"),
    "update": ("to change", "changed"),
    "archive": ("to archive", "archived"),
    "unchanged": ("unchanged", "unchanged"),
}
LONGEST_VALUE = 100


def show_difference(changes: Sequence[dict[str, Any]]) -> None:
    for change in changes:
        colour = _COLOURS.get(change["act"])
        sign = _SIGNS.get(change["act"], "?")
        what = f"{sign} {_name(change)}"
        typer.echo(typer.style(plain(what), fg=colour, bold=True))
        for each in change["fields"]:
            typer.echo(typer.style(f"    {plain(_field(each))}", fg=colour))


def summary(applied: dict[str, Any], *, done: bool) -> str:
    """`2 created, 1 changed, 40 unchanged`; jobs and endpoints alike."""
    counts = applied["counts"]
    told = [f"{counts[act]:,} {words[done]}" for act, words in _WORDS.items() if counts.get(act)]
    return ", ".join(told) or "nothing in it"


def _name(change: dict[str, Any]) -> str:
    job, endpoint = change["job"], change["endpoint"]
    return f"job {job}" if endpoint is None else f"{job}/{endpoint}"


def _field(change: dict[str, Any]) -> str:
    before, after = change["before"], change["after"]
    if before is None:
        return f"{change['field']}: {_value(after)}"
    if after is None:
        return f"{change['field']}: {_value(before)} → (gone)"
    return f"{change['field']}: {_value(before)} → {_value(after)}"


def _value(value: Any) -> str:
    return shortened(value if isinstance(value, str) else json_text(value), LONGEST_VALUE)
