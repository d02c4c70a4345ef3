"""`cadenza planner stop`, `start` and `show`: the planner of a tenant as a whole."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import counted

Reason = Annotated[str, typer.Option(help="A reason to record.")]
cli = typer.Typer()


@command(cli, "stop")
def stop(api: Api, out: Output, reason: Reason = "") -> None:
    """Stop the planner in all jobs: no rule, detector or model acts. Needs the admin scope.

    What its modes were is kept, and `cadenza planner start` gives them back.

    Example: cadenza planner stop --reason "a strange night"
    """
    planner = api.post("/planner/stop", {"reason": reason})
    jobs = planner["stop"]["jobs"]
    own = f", and the modes of {counted(jobs, 'job')}" if jobs else ""
    out.done(
        planner,
        f"The planner is stopped{own}. Hints in force expire by themselves. "
        "Start it again: cadenza planner start",
    )


@command(cli, "start")
def start(api: Api, out: Output) -> None:
    """Start the planner again, with its previous modes. Needs the admin scope.

    What somebody has set since the stop stays.

    Example: cadenza planner start
    """
    before = api.get("/planner")["stop"]
    planner = api.post("/planner/start")
    if before is None:
        out.done(planner, f"The planner was not stopped. {_modes(planner['modes'])}")
        return
    jobs = before["jobs"]
    own = f" {counted(jobs, 'job')} had modes of their own, and have them again." if jobs else ""
    out.done(planner, f"The planner is running again. {_modes(planner['modes'])}{own}")


@command(cli, "show")
def show(api: Api, out: Output) -> None:
    """Show the planner's modes, and whether it is stopped.

    Example: cadenza planner show
    """
    planner = api.get("/planner")
    modes, stopped = planner["modes"], planner["stop"]
    lines = [("rules", modes["rules"]), ("detectors", modes["detectors"]), ("model", modes["llm"])]
    if stopped is not None:
        lines += [
            ("stopped", f"{out.times.when(stopped['stopped_at'])}, by {_by(api, stopped)}"),
            ("why", stopped["reason"]),
            ("was", _modes(stopped["modes"])),
            ("jobs", f"{counted(stopped['jobs'], 'job')} had modes of their own"),
            ("to start", "cadenza planner start"),
        ]
    out.one(planner, lines)


def _by(api: Api, stopped: dict[str, Any]) -> str:
    if stopped["stopped_by"] is None:
        return "the installation's admin"
    users = {user["id"]: user["name"] for user in api.get("/users")["items"]}
    return users.get(stopped["stopped_by"], "somebody who is gone")


def _modes(modes: dict[str, str]) -> str:
    return f"Rules: {modes['rules']}, detectors: {modes['detectors']}, a model: {modes['llm']}."
