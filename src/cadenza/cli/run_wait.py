"""Waiting for the run that a person asked for."""

from typing import Any

from cadenza.cli.client import Api
from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError
from cadenza.cli.output import Output
from cadenza.cli.run_view import print_run
from cadenza.domain.instants import TICK, from_iso, iso

LOOK_SECONDS = 0.2
NOT_STARTED = 30.0  # seconds after which nobody seems to work


def wait_for_run(
    api: Api, out: Output, context: CliContext, name: str, asked: dict[str, Any]
) -> None:
    """Until it has ended; an error where it failed, or where no worker takes it up."""
    slot = asked["slot_at"]
    query = {
        "endpoint_id": asked["endpoint_id"],
        "from": slot,
        "to": iso(from_iso(slot) + TICK),
    }
    waited = 0.0
    with out.working(f"Waiting for {name} …"):
        while (run := next(api.pages("/runs", 1, query), None)) is None or not _ended(run):
            if run is None and waited > NOT_STARTED:
                raise CommandError(
                    f"No worker has taken up the run of {name} for {NOT_STARTED:g} s. Does a "
                    "scheduler run? `make up` starts one; /readyz tells."
                )
            context.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
    print_run(out, api.get(f"/runs/{run['id']}"), name)
    if run["status"] != "success":
        raise CommandError(f"{name}: the run ended as {run['status']}.")


def _ended(run: dict[str, Any]) -> bool:
    return run["status"] != "running"
