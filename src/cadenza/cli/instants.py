"""Instants as they are written on a command line: in ISO 8601, or as a duration from now."""

from contextlib import suppress
from datetime import datetime

from cadenza.cli.context import CliContext
from cadenza.cli.errors import usage
from cadenza.cli.terminal_text import plain
from cadenza.domain.instants import iso
from cadenza.manifest.durations import parse_duration


def from_now(context: CliContext, option: str, text: str | None) -> str | None:
    """`2h` is in two hours."""
    return _instant(context, option, text, 1)


def ago(context: CliContext, option: str, text: str | None) -> str | None:
    """`2h` is two hours ago."""
    return _instant(context, option, text, -1)


def _instant(context: CliContext, option: str, text: str | None, sign: int) -> str | None:
    if text is None:
        return None
    with suppress(ValueError):
        return iso(context.now() + sign * parse_duration(text))
    try:
        read = datetime.fromisoformat(text)
        # Without a zone it is what the person's own clock shows.
        return iso(read if read.tzinfo else read.astimezone())
    except (ValueError, OverflowError) as error:
        example = "an instant like 2026-03-01T12:00 or 2026-03-01T12:00:00Z, or from now, like 2h"
        raise usage(f"{option}: {plain(text)!r} is not {example}") from error
