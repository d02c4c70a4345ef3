"""`cadenza rules test`: what declared rules would have done with answers of the past."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.application.ports.expressions import Expressions
from cadenza.application.rule_judging import NOT_SO
from cadenza.application.rule_trial import Answered, try_rules
from cadenza.cli.client import Api
from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.output import Column, Output
from cadenza.cli.recorded_answers import read_answers, stored_answers
from cadenza.cli.terminal_text import plain
from cadenza.cli.times import Times
from cadenza.domain.definition import JobDefinition
from cadenza.domain.instants import iso
from cadenza.manifest.files import read_manifest
from cadenza.manifest.rules import rule_document

NO_ANSWER = Counter({"there is no response that it reads": 0})
NO_RULES = "The file declares no rules. How to write them: docs/how-to/write-rules.md"


def run_rules(
    expressions: Expressions,
    api: Api,
    out: Output,
    context: CliContext,
    file: Annotated[
        Path,
        typer.Option("--file", "-f", readable=False, help="A file or folder with jobs and rules."),
    ] = Path("cadenza.yaml"),
    endpoint: Annotated[str | None, typer.Option(help="Filter by endpoint: job/name.")] = None,
    since: Annotated[str, typer.Option(help="A time, or a duration ago such as 7d.")] = "7d",
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="The most recent responses to use per endpoint.")
    ] = 200,
    responses: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Read responses from a JSON Lines file instead of the server.",
        ),
    ] = None,
) -> None:
    """Test rules on recorded responses: which would have fired, and why not.

    Nothing is written. A line of --responses is like
    {"endpoint": "shop", "at": "2026-01-31T12:00:00Z", "body": {"visitors": 120}}

    Example: cadenza rules test -f cadenza.yaml --endpoint shop/queue --since 7d
    """
    records: list[dict[str, Any]] = []
    for job, only in _jobs(file, endpoint, context):
        if responses is not None:
            answers = read_answers(responses, only, job, context.now())
        else:
            names = [only] if only else [endpoint.name for endpoint in job.endpoints]
            with out.working(f"Reading the answers of {job.name}"):
                answers = list(
                    stored_answers(api, job, names, out.times.ago("--since", since), limit)
                )
        records += _records(job, answers, expressions)
    out.rows(records, _columns(out), NO_RULES)


def _jobs(
    file: Path, endpoint: str | None, context: CliContext
) -> Iterator[tuple[JobDefinition, str | None]]:
    """Those with rules, or the one that was asked for, with the name of its endpoint."""
    manifest = read_manifest(file, context.checks(), None)
    if manifest.problems:
        raise CommandError("\n".join(map(str, manifest.problems[:20])))
    wanted, _, name = (endpoint or "").partition("/")
    for job in manifest.jobs:
        if endpoint is None and job.rules:
            yield job, None
        elif job.name == wanted and name in {endpoint.name for endpoint in job.endpoints}:
            yield job, name
            return
    if endpoint is not None:
        known = [f"{job.name}/{own.name}" for job in manifest.jobs for own in job.endpoints]
        names = ", ".join(map(plain, known[:10]))
        raise usage(f"The file has no endpoint {plain(endpoint)!r}; it has {names}")


def _records(
    job: JobDefinition, answers: list[Answered], expressions: Expressions
) -> Iterator[dict[str, Any]]:
    for tried in asyncio.run(try_rules(job, answers, expressions)):
        yield {
            "job": job.name,
            "rule": tried.rule.name,
            "then": rule_document(tried.rule)["then"],
            "answers": tried.judged,
            "held": tried.held,
            "fired": [{"at": iso(at), "endpoint": by} for at, by in tried.fired],
            "why_not": _counted(tried.why_not if tried.judged else NO_ANSWER),
            "no_yes_or_no": _counted(tried.troubles),
        }


def _counted(reasons: Counter[str]) -> list[dict[str, Any]]:
    return [{"reason": reason, "answers": count} for reason, count in reasons.most_common(5)]


def _fired(record: dict[str, Any], times: Times) -> str:
    fired = [times.clock(fire["at"]) for fire in record["fired"]]
    if len(fired) < 2:
        return f"once, {fired[0]}" if fired else "never"
    return f"{len(fired)} times, {fired[0]} to {fired[-1]}"


def _why(record: dict[str, Any]) -> str:
    reasons = [*record["no_yes_or_no"], *record["why_not"]]
    reasons.sort(key=lambda reason: reason["reason"] == NOT_SO)  # that one says least
    return "; ".join(f"{reason['reason']} ({reason['answers']}×)" for reason in reasons[:2])


def _columns(out: Output) -> Sequence[Column]:
    return (
        Column("rule", lambda record: f"{record['job']}/{record['rule']}"),
        Column("answers", lambda record: record["answers"]),
        Column("held", lambda record: record["held"]),
        Column("would have fired", lambda record: _fired(record, out.times), is_text=True),
        Column("why not", _why, is_text=True),
    )
