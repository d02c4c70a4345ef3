"""Runs as rows, and one in full."""

from typing import Any

from cadenza.cli.api_errors import ApiError
from cadenza.cli.client import Api
from cadenza.cli.descriptions import run_duration, run_result, source
from cadenza.cli.lookup import full_name
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import json_text, shortened

Item = dict[str, Any]


class EndpointNames:
    """Names by id, each asked for once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, str] = {}

    def of(self, endpoint_id: str) -> str:
        if endpoint_id not in self._known:
            self._known[endpoint_id] = self._ask(endpoint_id)
        return self._known[endpoint_id]

    def _ask(self, endpoint_id: str) -> str:
        try:
            return full_name(self._api.get(f"/endpoints/{endpoint_id}"))
        except ApiError as error:
            if error.status == 404:
                return endpoint_id
            raise


def run_columns(out: Output, names: EndpointNames) -> list[Column]:
    return [
        Column("due", lambda run: out.times.when(run["slot_at"])),
        Column("endpoint", lambda run: names.of(run["endpoint_id"])),
        Column("status", lambda run: run["status"]),
        Column("answer", run_result),
        Column("took", run_duration),
        Column("why", lambda run: source(run["source"])),
        Column("id", lambda run: run["id"], keep_whole=True),
    ]


def print_run(out: Output, run: Item, name: str) -> None:
    times, body = out.times, run["body"]
    lost = [
        f"attempt {attempt['attempt']}, noted {times.when(attempt['noted_at'])}"
        for attempt in run["lost_attempts"]
    ]
    skipped = f"{run['skipped_slots']} ({run['skipped_reason']})" if run["skipped_slots"] else ""
    lines = [
        ("run", run["id"]),
        ("of", name),
        ("status", run["status"]),
        ("answer", run_result(run)),
        ("error", run["error_message"]),
        ("due", times.when(run["slot_at"])),
        ("started", times.when(run["started_at"], "not yet")),
        ("took", run_duration(run)),
        ("why then", source(run["source"])),
        ("attempt", run["attempt"] if run["attempt"] > 1 else ""),
        ("lost attempts", "\n".join(lost)),
        ("late results", len(run["late_results"]) or ""),
        ("slots skipped", skipped),
        (
            "body",
            "" if body is None else shortened(body if isinstance(body, str) else json_text(body)),
        ),
    ]
    out.one(run, lines)
