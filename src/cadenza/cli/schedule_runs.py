"""`cadenza schedules run`, `runs`, `cancel` and `answer`: what became of a schedule's slots."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import Limit
from cadenza.cli.graph_fields import read_json
from cadenza.cli.money import credits_text, dollars
from cadenza.cli.output import Column, Output
from cadenza.cli.schedule_lookup import (
    ScheduleName,
    find_run,
    find_schedule,
    label,
    run_that_is,
)
from cadenza.cli.terminal_text import json_text, plain, plain_lines, quoted, shortened
from cadenza.cli.times import duration_text

Item = dict[str, Any]
LONGEST_EVENT = 300
RunId = Annotated[
    str | None, typer.Argument(metavar="RUN", help="A run id, or its first 8 characters.")
]


def add_run_commands(cli: typer.Typer) -> None:
    command(cli, "run")(run_schedule)
    command(cli, "runs")(show_runs)
    command(cli, "cancel")(cancel_run)
    command(cli, "answer")(answer_run)


def run_schedule(api: Api, out: Output, name: ScheduleName) -> None:
    """Run a schedule now, in addition to its regular slots.

    Example: cadenza schedules run poem
    """
    schedule = find_schedule(api, name)
    slot = api.post(f"/schedules/{schedule['id']}/run")
    out.done(
        slot, f"Run requested. See the result: cadenza schedules runs {quoted(label(schedule))}"
    )


def show_runs(
    api: Api, out: Output, name: ScheduleName, run: RunId = None, limit: Limit = 20
) -> None:
    """List a schedule's runs, newest first, or show one in detail.

    Example: cadenza schedules runs poem 01990000-0000-7000-8000-000000000000
    """
    schedule = find_schedule(api, name)
    if run is not None:
        _show_run(api, out, schedule, find_run(api, schedule, run)["id"])
        return
    columns = [
        Column("due", lambda run: out.times.relative(run["slot_at"])),
        Column("result", _result, is_text=True),
        Column("took", lambda run: duration_text(run["duration_ms"]), rank=2),
        Column("cost", lambda run: dollars(run["credits"]) if run["credits"] else "–", rank=1),
        Column("id", lambda run: run["id"] or "–", is_id=True),
    ]
    runs = api.pages(f"/schedules/{schedule['id']}/runs", limit)
    nothing = f"No runs yet. Start one: cadenza schedules run {quoted(label(schedule))}"
    out.rows(runs, columns, nothing)


def cancel_run(api: Api, out: Output, name: ScheduleName, run: RunId = None) -> None:
    """Cancel a run. Default: the one in progress.

    Example: cadenza schedules cancel poem
    """
    schedule = find_schedule(api, name)
    chosen = find_run(api, schedule, run) if run else run_that_is(api, schedule, "running")
    cancelled = api.post(f"/schedules/{schedule['id']}/runs/{chosen['id']}/cancel")
    out.done(cancelled, f"Cancelled the run {cancelled['id']}.")


def answer_run(
    api: Api,
    out: Output,
    name: ScheduleName,
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="The answer: JSON, @file or plain text.")
    ],
    run: Annotated[
        str | None,
        typer.Option("--run", help="A run id. Default: the last run that waits for an answer."),
    ] = None,
) -> None:
    """Answer a question that a run asked. It continues as a new run.

    Example: cadenza schedules answer poem '{"approved": true}'
    """
    schedule = find_schedule(api, name)
    chosen = find_run(api, schedule, run) if run else run_that_is(api, schedule, "waiting")
    path = f"/schedules/{schedule['id']}/runs/{chosen['id']}/answer"
    slot = api.post(path, {"answer": _answer(answer)})
    following = f"cadenza schedules runs {quoted(label(schedule))}"
    out.done(slot, f"Answer sent. The run continues as a new run: {following}")


def _answer(text: str) -> Any:
    if text.startswith("@"):
        return read_json("ANSWER", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# --- One run ----------------------------------------------------------------------------------


def _show_run(api: Api, out: Output, schedule: Item, run_id: str) -> None:
    path = f"/schedules/{schedule['id']}/runs/{run_id}"
    run, times = api.get(path), out.times
    question = "" if run["question"] is None else json_text(run["question"])
    error = ": ".join(filter(None, [run["error_code"], run["error_message"]]))
    lines = [
        ("run", run["id"]),
        ("of", label(schedule)),
        ("result", _result(run)),
        ("due", times.when(run["slot_at"])),
        ("started", times.when(run["started_at"], "not yet")),
        ("took", duration_text(run["duration_ms"])),
        ("attempt", run["attempt"] if run["attempt"] > 1 else ""),
        ("cost", credits_text(run["credits"])),
        ("answers", run["answer_to"]),
        ("question", shortened(question)),
        ("answered", times.when(run["answered_at"], "")),
        ("output", "" if run["output"] is None else shortened(json_text(run["output"]))),
        ("error", error),
        ("last lines", run["last_lines"].rstrip()),
    ]
    out.one(run, lines)
    if not out.as_json and run["events"]["items"]:
        typer.echo("events")
        for event in _events(api, path, run["events"]):
            typer.echo(f"  {_since(run, event):>9}  {_event(event)}")


def _events(api: Api, path: str, page: Item) -> Iterator[Item]:
    yield from page["items"]
    while page["next"] is not None:
        page = api.get(f"{path}/events", {"after": page["next"], "limit": 200})
        yield from page["items"]


def _since(run: Item, event: Item) -> str:
    """From the start of the run."""
    start = datetime.fromisoformat(run["started_at"] or run["slot_at"])
    seconds = (datetime.fromisoformat(event["at"]) - start).total_seconds()
    return f"{seconds:+.3f} s"


def _event(event: Item) -> str:
    data = event["data"]
    words = data["text"] if event["kind"] == "text_delta" and "text" in data else json_text(data)
    written = "" if data == {} else f"  {plain(shortened(str(words), LONGEST_EVENT))}"
    return f"{plain(event['kind'])}{written}"


def _result(run: Item) -> str:
    if run["status"] == "skipped":
        return f"skipped {run['reason']} × {run['skipped_slots']}"
    if run["status"] == "waiting" and run["answered_at"]:
        return "answered"
    details = run["error_code"] if run["status"] == "error" else run["reason"]
    return plain_lines(f"{run['status']} {details or ''}").strip()
