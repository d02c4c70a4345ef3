"""Schedules and their runs as a person names them: by name, by id, or by how an id begins."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.errors import CommandError, ExitCode
from cadenza.cli.lookup import MOST_LOOKED_AT, by_beginning, by_id, named, unknown
from cadenza.cli.terminal_text import plain

Item = dict[str, Any]
ScheduleName = Annotated[str, typer.Argument(metavar="SCHEDULE", help="A schedule's name or id.")]


def find_schedule(api: Api, name: str) -> Item:
    """Its name and its whole id are asked of the server, of a deleted one the id."""
    schedule = next(named(api, "/schedules", name), None) or by_id(api, "/schedules", name)
    if schedule is not None:
        return schedule
    if (schedule := by_beginning(api, "schedule", "/schedules", name)) is not None:
        return schedule
    known = map(label, api.pages("/schedules", MOST_LOOKED_AT))
    raise unknown("schedule", name, known, "cadenza schedules list")


def find_run(api: Api, schedule: Item, run_id: str) -> Item:
    path = f"/schedules/{schedule['id']}/runs"
    run = by_id(api, path, run_id) or by_beginning(api, "schedule-run", path, run_id)
    if run is not None:
        return run
    raise unknown("run", run_id, (), f"cadenza schedules runs {plain(label(schedule))}")


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
