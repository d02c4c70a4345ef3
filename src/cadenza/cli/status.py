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
LOOKED_BACK = 200  # entries of a job's timeline among which the last change is looked for
MOST_FAILURES = 200
CALM = "Nothing fails, is late, paused or bent: everything runs as it was written."
STATES = {"failing": "fails", "late": "late", "paused": "paused", "hinted": "bent"}
PAUSES = ("endpoint.pause", "job.pause")
HINTS = ("endpoint.hint.interval", "endpoint.hint.one-shot")
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
    changes = _Changes(api)
    for state, word in STATES.items():
        query = {"job_id": job_id, "state": state}
        for endpoint in api.pages("/endpoints", limit, query):
            since, why = _since_and_why(api, times, changes, state, endpoint)
            yield {"state": word, "endpoint": full_name(endpoint), "since": since, "why": why}
            limit -= 1
            if not limit:
                return


def _since_and_why(
    api: Api, times: Times, changes: "_Changes", state: str, endpoint: Item
) -> tuple[str | None, str]:
    if state == "failing":
        return _failure(api, endpoint)
    if state == "late":
        return endpoint["next_run_at"], "no worker has begun it; see: cadenza doctor"
    if state == "paused":
        pauses = [_pause(pause, times) for pause in endpoint["pauses"]]
        return changes.last(endpoint, PAUSES), "; ".join(pauses)
    hints = [hint(item, times) for item in endpoint["hints"]]
    return changes.last(endpoint, HINTS), "; ".join(hints)


def _failure(api: Api, endpoint: Item) -> tuple[str | None, str]:
    """The first failure in a row, and what the last one said."""
    count = min(endpoint["failure_count"], MOST_FAILURES)
    query = {"endpoint_id": endpoint["id"], "status": ["failure", "timeout"]}
    failures = list(api.pages("/runs", count, query))
    if not failures:
        return None, f"{endpoint['failure_count']} failures in a row, which are no longer kept"
    last = failures[0]
    said = (last["status_code"], last["error_kind"], last["error_message"])
    why = " ".join(dict.fromkeys(str(part) for part in said if part)) or last["status"]
    return failures[-1]["slot_at"], f"{endpoint['failure_count']} in a row: {why}"


def _pause(pause: Item, times: Times) -> str:
    why = f": {pause['reason']}" if pause["reason"] else ""
    whose = "its job" if pause["by"] == "job" else by_whom(pause["by"])
    return f"{until(pause['until'], times)}, by {whose}{why}"


class _Changes:
    """When endpoints were last steered, from their jobs' timelines, each read once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._entries: dict[str, list[Item]] = {}

    def last(self, endpoint: Item, actions: tuple[str, ...]) -> str | None:
        """None: longer ago than is looked back."""
        job_id = endpoint["job_id"]
        if job_id not in self._entries:
            path = f"/jobs/{job_id}/timeline"
            self._entries[job_id] = list(self._api.pages(path, LOOKED_BACK))
        ids = (endpoint["id"], job_id)
        for entry in self._entries[job_id]:
            act, session = entry["act"], entry["session"]
            if act and act["action"] in actions and act["subject"] in ids:
                return entry["at"]
            if session and session["did"] and session["endpoint_id"] == endpoint["id"]:
                return entry["at"]
        return None
