"""`cadenza status`: what is not as its owner wrote it right now, since when, and why."""

from collections.abc import Iterator
from typing import Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import Limit, OfJob
from cadenza.cli.descriptions import by_whom, hint, until
from cadenza.cli.lookup import find_job, full_name
from cadenza.cli.output import Column, Output
from cadenza.cli.times import Times

Item = dict[str, Any]
LOOKED_BACK = 20  # hints and pauses among which those in force are looked for
CALM = "Nothing fails, is late, paused or bent: everything runs as it was written."
STATES = {"failing": "fails", "late": "late", "paused": "paused", "hinted": "bent"}
PAUSES = ("pause", "job-pause")
HINTS = ("interval", "once")
cli = typer.Typer()


@command(cli, "status")
def status(api: Api, out: Output, job: OfJob = None, limit: Limit = 20) -> None:
    """Show what fails, is late, paused or bent right now, since when, and why.

    Example: cadenza status --job shop
    """
    job_id = find_job(api, job)["id"] if job else None
    with out.working("Looking …"):
        rows = list(_rows(api, out.times, job_id, limit))
    columns = [
        Column("state", lambda row: row["state"]),
        Column("endpoint", lambda row: row["endpoint"]),
        Column("since", lambda row: out.times.relative(row["since"])),
        Column("why", lambda row: row["why"], is_text=True),
    ]
    out.rows(rows, columns, CALM)
    if rows and not out.as_json:
        more = " There may be more: --limit." if len(rows) == limit else ""
        out.note(f"One in full: cadenza explain {rows[0]['endpoint']}.{more}")


def _rows(api: Api, times: Times, job_id: str | None, limit: int) -> Iterator[Item]:
    """The worst first; so many at most."""
    for state, word in STATES.items():
        query = {"job_id": job_id, "state": state}
        for endpoint in api.pages("/endpoints", limit, query):
            since, why = _since_and_why(api, times, state, endpoint)
            yield {"state": word, "endpoint": full_name(endpoint), "since": since, "why": why}
            limit -= 1
            if not limit:
                return


def _since_and_why(api: Api, times: Times, state: str, endpoint: Item) -> tuple[str | None, str]:
    if state == "failing":
        return endpoint["failing_since"], _failure(api, endpoint)
    if state == "late":
        return endpoint["next_run_at"], "no worker has begun it; see: cadenza doctor"
    if state == "paused":
        pauses = [_pause(pause, times) for pause in endpoint["pauses"]]
        return _in_force_since(api, endpoint, PAUSES), "; ".join(pauses)
    hints = [hint(item, times) for item in endpoint["hints"]]
    return _in_force_since(api, endpoint, HINTS), "; ".join(hints)


def _failure(api: Api, endpoint: Item) -> str:
    """How often in a row, and what the last one said."""
    count = endpoint["failure_count"]
    query = {"endpoint_id": endpoint["id"], "status": ["failure", "timeout"]}
    last = next(iter(api.pages("/runs", 1, query)), None)
    if last is None:
        return f"{count} failures in a row, which are no longer kept"
    said = (last["status_code"], last["error_kind"], last["error_message"])
    why = " ".join(dict.fromkeys(str(part) for part in said if part)) or last["status"]
    return f"{count} in a row: {why}"


def _pause(pause: Item, times: Times) -> str:
    why = f": {pause['reason']}" if pause["reason"] else ""
    whose = "its job" if pause["by"] == "job" else by_whom(pause["by"])
    return f"{until(pause['until'], times)}, by {whose}{why}"


def _in_force_since(api: Api, endpoint: Item, kinds: tuple[str, ...]) -> str | None:
    """When the oldest of what bends it now was written."""
    entries = api.pages(f"/endpoints/{endpoint['id']}/steering", LOOKED_BACK)
    begun = [e["from"] for e in entries if e["kind"] in kinds and e["ended_as"] == "standing"]
    return min(begun, default=None)
