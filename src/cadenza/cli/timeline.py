"""`cadenza jobs timeline`: runs, actions of people and sessions of the planner, by time."""

from typing import Any

from cadenza.cli.client import Api
from cadenza.cli.complete import JobName, Limit
from cadenza.cli.descriptions import run_result, source
from cadenza.cli.lookup import find_job
from cadenza.cli.output import Column, Output


def timeline(api: Api, out: Output, name: JobName, limit: Limit = 30) -> None:
    """Show what happened to a job: runs, actions and sessions, newest first.

    Example: cadenza jobs timeline shop --limit 100
    """
    job = find_job(api, name)
    endpoints = api.pages("/endpoints", 1000, {"job_id": job["id"]})
    names = {} if out.as_json else {endpoint["id"]: endpoint["name"] for endpoint in endpoints}
    columns = [
        Column("when", lambda entry: out.times.when(entry["at"])),
        Column("what", lambda entry: entry["kind"]),
        Column("of", lambda entry: _subject(entry, names)),
        Column("details", _summary),
    ]
    entries = api.pages(f"/jobs/{job['id']}/timeline", limit)
    out.rows(entries, columns, "Nothing happened yet. Its endpoints: cadenza endpoints list")


def _subject(entry: dict[str, Any], names: dict[str, str]) -> str:
    if action := entry["act"]:
        return names.get(action["subject"], "the job")
    endpoint_id = str((entry["run"] or entry["session"])["endpoint_id"])
    return names.get(endpoint_id, endpoint_id)


def _summary(entry: dict[str, Any]) -> str:
    if run := entry["run"]:
        return f"{run['status']} {run_result(run)}, by {source(run['source'])}"
    if action := entry["act"]:
        return f"{action['action']} by {action['actor']}"
    return f"{entry['session']['brain']}: {entry['session']['reasoning']}"
