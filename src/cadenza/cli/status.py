"""`cadenza status`: what is not as its owner wrote it right now, since when, and why."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import Limit, OfJob
from cadenza.cli.descriptions import by_whom, hint, until
from cadenza.cli.lookup import find_job, full_name
from cadenza.cli.output import Column, Output
from cadenza.cli.times import Times
from cadenza.domain.run import error_text

Item = dict[str, Any]
LOOKED_BACK = 20  # hints and pauses among which those in force are looked for
CALM = "All endpoints run as scheduled: nothing is failing, late, paused or hinted."
STATES = {"failing": "failing", "late": "late", "paused": "paused", "hinted": "hinted"}
# Incidents that are not about how an endpoint is right now, which is read anew.
BESIDES = {
    "worker-lost": "a worker stopped responding",
    "quota": "a limit of the planner is reached",
    "grant-expiring": "a grant expires",
    "key-expiring": "an API key expires",
    "channel-failing": "a notification channel is failing",
    "webhook-disabled": "a webhook was disabled",
}
PAUSES = ("pause", "job-pause")
HINTS = ("interval", "once")
KEY_ENDS_SOON = timedelta(days=7)
cli = typer.Typer()


@command(cli, "status")
def status(api: Api, out: Output, job: OfJob = None, limit: Limit = 20) -> None:
    """Show what is failing, late, paused or hinted right now, and why.

    Example: cadenza status --job shop
    """
    job_id = find_job(api, job)["id"] if job else None
    with out.working("Checking …"):
        rows = list(_rows(api, out.times, job_id, limit))
        ends_at = api.get("/me").get("key_expires_at")
    columns = [
        Column("state", lambda row: row["state"]),
        Column("endpoint", lambda row: row["endpoint"], is_endpoint=True),
        Column("since", lambda row: out.times.relative(row["since"])),
        Column("why", lambda row: row["why"], is_text=True),
    ]
    out.rows(rows, columns, CALM)
    if ends_at is not None and out.times.is_within(ends_at, KEY_ENDS_SOON):
        ends = out.times.relative(ends_at)
        out.note(f"Your key expires {ends}. An owner can replace it: cadenza keys rotate")
    if rows and not out.as_json:
        more = " There may be more: use --limit." if len(rows) == limit else ""
        known = [row["endpoint"] for row in rows if row["state"] in STATES.values()]
        one = f"cadenza explain {known[0]}" if known else "cadenza incidents list"
        out.note(f"Details: {one}.{more}")


def _rows(api: Api, times: Times, job_id: str | None, limit: int) -> Iterator[Item]:
    """The worst first; so many at most."""
    for incident in api.pages("/incidents", limit, {"open": "true", "job_id": job_id}):
        if incident["kind"] in BESIDES:
            row = {"state": incident["severity"], "endpoint": incident["name"]}
            yield {**row, "since": incident["opened_at"], "why": _incident(incident)}
            limit -= 1
            if not limit:
                return
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
        return endpoint["next_run_at"], "no worker has started it; run cadenza doctor"
    if state == "paused":
        standing = _in_force(api, endpoint, PAUSES)
        reasons = {entry["kind"]: entry["reason"] for entry in standing}
        pauses = [_pause(pause, times, reasons) for pause in endpoint["pauses"]]
        return _since(standing), "; ".join(pauses)
    hints = [hint(item, times) for item in endpoint["hints"]]
    return _since(_in_force(api, endpoint, HINTS)), "; ".join(hints)


def _incident(incident: Item) -> str:
    detail = f": {incident['detail']}" if incident["detail"] else ""
    return f"{BESIDES[incident['kind']]}{detail}"


def _failure(api: Api, endpoint: Item) -> str:
    """How often in a row, and what the last one said."""
    count = endpoint["failure_count"]
    query = {"endpoint_id": endpoint["id"], "status": ["failure", "timeout"]}
    last = next(iter(api.pages("/runs", 1, query)), None)
    if last is None:
        return f"{count} failures in a row (no longer stored)"
    why = error_text(last["status"], last["status_code"], last["error_kind"], last["error_message"])
    return f"{count} in a row: {why}"


def _pause(pause: Item, times: Times, reasons: dict[str, str]) -> str:
    """A job's pause has its reason among what is in force, and not at the endpoint."""
    reason = pause["reason"] or (reasons.get("job-pause", "") if pause["by"] == "job" else "")
    why = f": {reason}" if reason else ""
    whose = "its job" if pause["by"] == "job" else by_whom(pause["by"])
    return f"{until(pause['until'], times)}, by {whose}{why}"


def _in_force(api: Api, endpoint: Item, kinds: tuple[str, ...]) -> list[Item]:
    entries = api.pages(f"/endpoints/{endpoint['id']}/steering", LOOKED_BACK)
    return [
        entry for entry in entries if entry["kind"] in kinds and entry["ended_as"] == "standing"
    ]


def _since(entries: list[Item]) -> str | None:
    """When the oldest of what bends it now was written."""
    return min((entry["from"] for entry in entries), default=None)
