"""`cadenza endpoints act`: one action on every endpoint that fits, after a question with how many
they are."""

from typing import Annotated, Any

import typer

from cadenza.application.bulk import BulkAction
from cadenza.application.ports.catalogue import EndpointState
from cadenza.cli.asking import DryRun, Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import OfJob, Until
from cadenza.cli.errors import usage
from cadenza.cli.lookup import find_job
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import counted

_WORDS = {
    BulkAction.PAUSE: ("Pause", "paused"),
    BulkAction.RESUME: ("Resume", "resumed"),
    BulkAction.CLEAR_HINTS: ("Clear the hints of", "back on the baseline"),
    BulkAction.RESET_FAILURES: ("Forget the failures of", "free of their failures"),
}


def register(cli: typer.Typer) -> None:
    command(cli, "act")(act)


def act(
    api: Api,
    out: Output,
    action: Annotated[BulkAction, typer.Argument(metavar="ACTION", help=", ".join(BulkAction))],
    job: OfJob = None,
    search: Annotated[str | None, typer.Option(help="Filter by name or URL.")] = None,
    state: Annotated[EndpointState | None, typer.Option(help="Filter by state.")] = None,
    until: Until = None,
    reason: Annotated[str, typer.Option(help="A reason to record.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Pause, resume, clear hints or reset failures on all matching endpoints.

    It asks first, with how many they are; 10,000 at most.

    Example: cadenza endpoints act pause --job shop --state failing --reason "maintenance"
    """
    if until is not None and action is not BulkAction.PAUSE:
        raise usage("--until is for pause.")
    wanted: dict[str, Any] = {
        "job_id": find_job(api, job)["id"] if job else None,
        "search": search,
        "state": state,
    }
    matches = api.get("/endpoint-actions/matching", wanted)
    count = matches["count"]
    if matches["is_more"]:
        raise usage(f"More than {count:,} match. Narrow it down with --job, --state or --search.")
    verb, done = _WORDS[action]
    if dry_run or not count:
        out.done({**matches, "done": 0}, f"{counted(count, 'endpoint')} would be {done}.")
        return
    ask(f"{verb} {counted(count, 'endpoint')}?", yes=yes)
    body = {name: value for name, value in wanted.items() if value is not None}
    body |= {"action": action, "expected": count, "reason": reason}
    body["until"] = out.times.ahead("--until", until)
    result = api.post("/endpoint-actions/matching", body)
    already = f", {result['unchanged']:,} already so" if result["unchanged"] else ""
    out.done(result, f"{counted(result['done'], 'endpoint')} {done}{already}.")
