"""`cadenza replay`: another brain, or other rules, over the recorded history."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.application.ports.brain import Brain
from cadenza.cli.client import Api
from cadenza.cli.commands import add
from cadenza.cli.context import CliContext
from cadenza.cli.exits import CommandError, usage
from cadenza.cli.instants import back
from cadenza.cli.output import Output, console
from cadenza.cli.plain_text import json_text, plain
from cadenza.cli.recorded import read_answers, stored_answers
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import BrainFailed
from cadenza.manifest.checking import check_manifest
from cadenza.manifest.files import read_manifest
from cadenza.replay.compare import Comparison, compare, record
from cadenza.replay.history import History
from cadenza.replay.life import FAILURES_IN_A_ROW, Life, relive
from cadenza.replay.purse import Purse
from cadenza.replay.view import picture, table

NOTE = (
    "Known is only what was asked then: between two probes the state is that of the earlier one, "
    "so no change is seen sooner than it was recorded. Nothing was written."
)


class ReplayBrain(StrEnum):
    RULES = "rules"
    LLM = "llm"


OpenBrain = Callable[[ReplayBrain], AbstractAsyncContextManager[Brain]]


def replay(
    open_brain: OpenBrain,
    api: Api,
    out: Output,
    context: CliContext,
    endpoint: Annotated[str | None, typer.Argument(help="One endpoint: job/name.")] = None,
    job: Annotated[str | None, typer.Option(help="All endpoints of this job.")] = None,
    brain: Annotated[ReplayBrain, typer.Option(help="Who plans.")] = ReplayBrain.RULES,
    since: Annotated[str, typer.Option(help="An instant, or like 7d ago.")] = "7d",
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", readable=False, help="Take the job and its rules from here."),
    ] = None,
    limit: Annotated[int, typer.Option(min=2, max=5000, help="Answers of each endpoint.")] = 500,
    responses: Annotated[
        Path | None,
        typer.Option(readable=False, help="Take the history from a file of JSON lines; needs -f."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Also draw it, to this file.")] = None,
    sessions: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000,
            help="With --brain llm: hold at most so many; each asks the model 1 to 20 times.",
        ),
    ] = 50,
) -> None:
    """Run a brain, or other rules, over the recorded history, and show what it would have done.

    Beside what was recorded stand the plain baselines and the brain: probes used, and how long
    after it was known each change was seen. Nothing is written. With --brain llm a look is a
    session that costs tokens, which no quota counts: it ends after --sessions of them, and says
    what they cost.

    Example: cadenza replay shop/queue --since 7d -f other-rules.yaml
    """
    name, _, only = (endpoint or job or "").partition("/")
    if not name or (endpoint is not None and not only) or (endpoint and job):
        raise usage("Name an endpoint like shop/queue, or give --job shop")
    wanted = _job(name, file, api, context)
    names = [each.name for each in wanted.endpoints]
    if only and only not in names:
        raise usage(f"{plain(name)} has no endpoint {plain(only)!r}; it has {', '.join(names)}")
    with out.working(f"Reading the answers of {name}"):
        if responses is not None:
            answers = read_answers(responses, None, wanted, context.now())
        else:
            at = back(context, "--since", since)
            answers = list(stored_answers(api, wanted, names, at, limit))
    histories = {
        each: History([one.response for one in answers if one.endpoint == each]) for each in names
    }
    shown, purse = [only] if only else names, Purse(sessions)
    with out.working(f"Living through the answers of {name} again"):
        found, life = asyncio.run(_replayed(wanted, histories, open_brain(brain), shown, purse))
    if svg is not None:
        _draw(found, svg)
    _show(found, life, purse, out)


async def _replayed(
    job: JobDefinition,
    histories: Mapping[str, History],
    opened_brain: AbstractAsyncContextManager[Brain],
    shown: list[str],
    purse: Purse,
) -> tuple[list[Comparison], Life]:
    try:
        async with opened_brain as brain:
            return await _compared(job, histories, brain, shown, purse)
    except BrainFailed as error:
        raise CommandError(
            f"The replay ended: {error.reason}, {FAILURES_IN_A_ROW} times in a row. "
            f"It had cost {purse}. Check the CADENZA_LLM settings, or try again later"
        ) from error


async def _compared(
    job: JobDefinition,
    histories: Mapping[str, History],
    brain: Brain,
    shown: list[str],
    purse: Purse,
) -> tuple[list[Comparison], Life]:
    instants = [each.finished_at for one in histories.values() for each in one.answers]
    if len(instants) < 2:
        raise CommandError("There is no history to replay yet: fewer than two answers are stored")
    begin = min(instants)
    life = await relive(job, histories, begin, max(instants), brain, purse)
    known = {name: each.until(life.end) for name, each in histories.items()}
    lives = {"baseline": await relive(job, known, begin, life.end, None), brain.name: life}
    return compare(known, lives, shown, begin, life.end), life


def _job(name: str, file: Path | None, api: Api, context: CliContext) -> JobDefinition:
    if file is not None:
        manifest = read_manifest(file, context.checks(), None)
        if manifest.problems:
            raise CommandError("\n".join(map(str, manifest.problems[:20])))
        jobs: list[JobDefinition] = manifest.jobs
    else:
        exported = api.get("/manifest")
        kept = [each for each in exported["jobs"] if each["name"] == name]
        jobs = list(check_manifest({**exported, "jobs": kept}, context.checks()).jobs)
    found = next((each for each in jobs if each.name == name), None)
    if found is None:
        raise usage(f"There is no job {plain(name)!r} {f'in {file}' if file else 'on the server'}")
    return found


def _draw(found: list[Comparison], svg: Path) -> None:
    try:
        svg.write_text(picture(found), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{svg} cannot be written: {error.strerror}") from error


def _show(found: list[Comparison], life: Life, purse: Purse, out: Output) -> None:
    if out.as_json:
        for each in found:
            typer.echo(json_text({**record(each), "spent_in_all": _spent(life, purse)}))
        return
    for each in found:
        console().print(table(each))
    reasons = dict.fromkeys(each.reasoning for each in life.sessions if each.reasoning)
    for reason in list(reasons)[:8]:
        typer.echo(f"  {plain(reason)}")
    if purse.sessions:
        failed = f", {life.failed} of them failed" if life.failed else ""
        typer.echo(f"It cost {purse}{failed}.")
    if life.is_cut:
        typer.echo(
            f"It ends at {life.end:%d %b %H:%M}, where --sessions {purse.most_sessions} were held."
        )
    typer.echo(NOTE)


def _spent(life: Life, purse: Purse) -> dict[str, Any]:
    """By the whole replay, siblings that are not shown included."""
    return {
        "sessions": purse.sessions,
        "failed": life.failed,
        "tokens": purse.tokens,
        "cost": purse.cost,
        "ended_early": life.is_cut,
    }


def register(app: typer.Typer, open_brain: OpenBrain) -> None:
    add(app, "replay", partial(replay, open_brain), is_read_in_logs=True)
