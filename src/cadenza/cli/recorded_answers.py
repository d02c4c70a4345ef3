"""Answers of the past: as a server has stored them, or from a file of JSON lines."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from cadenza.application.rule_trial import Answered
from cadenza.cli.client import Api
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.lookup import find_endpoint
from cadenza.cli.terminal_text import plain
from cadenza.domain.analysis import Response
from cadenza.domain.definition import JobDefinition
from cadenza.domain.run import RunStatus
from cadenza.manifest.text_loading import Unreadable, read_text

ENDED = (RunStatus.SUCCESS, RunStatus.FAILURE, RunStatus.TIMEOUT)
EXAMPLE = '{"endpoint": "shop", "at": "2026-01-31T12:00:00Z", "body": {"visitors": 120}}'
_MINUTE = timedelta(minutes=1)


def stored_answers(
    api: Api, job: JobDefinition, names: Sequence[str], since: str | None, limit: int
) -> Iterator[Answered]:
    """The newest of each endpoint; a list of runs has no bodies, so each is asked for."""
    for name in names:
        endpoint = find_endpoint(api, f"{job.name}/{name}")
        query = {
            "endpoint_id": endpoint["id"],
            "from": since,
            "status": [str(status) for status in ENDED],
        }
        for run in api.pages("/runs", limit, query):
            yield _answered(name, api.get(f"/runs/{run['id']}"))


def read_answers(file: Path, only: str | None, job: JobDefinition, now: datetime) -> list[Answered]:
    """One JSON object a line. Without times they are a minute apart, the last one now."""
    try:
        text, _ = read_text(file)
    except Unreadable as error:
        raise CommandError(str(error)) from error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    single = job.endpoints if len(job.endpoints) == 1 else ()
    answers: list[Answered] = []
    for index, (number, line) in enumerate(lines):
        fields = _fields(file, number, line)
        at = now - (len(lines) - 1 - index) * _MINUTE
        name = fields.get("endpoint") or only or (single and single[0].name)
        if not name:
            raise usage(f"{file}:{number}: say whose answer it is: expected {EXAMPLE}")
        try:
            answers.append(_answered(str(name), {"finished_at": at.isoformat(), **fields}))
        except (ValueError, TypeError) as error:
            raise usage(f"{file}:{number}: {plain(str(error))}; expected {EXAMPLE}") from error
    return [answer for answer in answers if only in (None, answer.endpoint)]


def _fields(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        read: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise usage(f"{file}:{number}: it is no JSON; expected {EXAMPLE}") from error
    if not isinstance(read, dict) or "body" not in read:
        raise usage(f"{file}:{number}: a body is missing; expected {EXAMPLE}")
    fields = cast("dict[str, Any]", read)
    at = fields.get("at")
    return {**fields, "finished_at": at, "slot_at": at} if "at" in fields else fields


def _answered(name: str, run: dict[str, Any]) -> Answered:
    """From a run as the API shows it."""
    took = run.get("duration_ms")
    response = Response(
        slot_at=_instant(run.get("slot_at") or run.get("finished_at")),
        finished_at=_instant(run.get("finished_at")),
        status=RunStatus(run.get("status", "success")),
        body=run.get("body"),
        duration=timedelta(milliseconds=took) if took is not None else None,
        status_code=run.get("status_code"),
    )
    return Answered(name, response)


def _instant(text: Any) -> datetime:
    read = datetime.fromisoformat(str(text))
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
