"""Schedules and their runs as a person names them: by name, by id, or by how an id begins."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.errors import CommandError, ExitCode, usage
from cadenza.cli.lookup import MOST_LOOKED_AT, nearest
from cadenza.cli.terminal_text import plain

Item = dict[str, Any]
LEAST_PREFIX = 4
ScheduleName = Annotated[
    str, typer.Argument(metavar="SCHEDULE", help="A schedule's name, its id, or how that begins.")
]


def find_schedule(api: Api, name: str) -> Item:
    schedules = list(api.pages("/schedules", MOST_LOOKED_AT))
    named = [schedule for schedule in schedules if schedule["name"] == name]
    if found := named or _beginning("schedule", schedules, name):
        return found[0]
    near = nearest(name, [label(schedule) for schedule in schedules])
    hint = f"Did you mean {', '.join(map(plain, near))}?" if near else ""
    raise _unknown("schedule", name, hint or "`cadenza schedules list` shows those there are.")


def find_run(api: Api, schedule: Item, run_id: str) -> Item:
    runs = api.pages(f"/schedules/{schedule['id']}/runs", MOST_LOOKED_AT)
    if found := _beginning("run", [run for run in runs if run["id"]], run_id):
        return found[0]
    hint = f"`cadenza schedules runs {plain(label(schedule))}` shows those there are."
    raise _unknown("run", run_id, hint)


def run_that_is(api: Api, schedule: Item, status: str) -> Item:
    """The newest one of that status."""
    runs = api.pages(f"/schedules/{schedule['id']}/runs", MOST_LOOKED_AT)
    run = next((run for run in runs if run["status"] == status and not run["answered_at"]), None)
    if run is None:
        message = f"No run of {plain(label(schedule))} is {status}."
        raise CommandError(message, ExitCode.NOT_FOUND)
    return run


def label(schedule: Item) -> str:
    return schedule["name"] or schedule["id"]


def _beginning(kind: str, items: Iterable[Item], text: str) -> list[Item]:
    text = text.lower()
    found = [item for item in items if item["id"].startswith(text)]
    if len(text) < LEAST_PREFIX:
        return []
    if len(found) > 1:
        ids = ", ".join(item["id"] for item in found[:5])
        raise usage(f"Several {kind}s have an id that begins with {plain(text)}. Which one? {ids}")
    return found


def _unknown(kind: str, name: str, hint: str) -> CommandError:
    return CommandError(f"There is no {kind} {plain(name)!r}. {hint}", ExitCode.NOT_FOUND)
