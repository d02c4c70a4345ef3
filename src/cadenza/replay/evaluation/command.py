"""`cadenza planner eval`: a prompt or a model against known right answers, and against history."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cadenza.application.ports.brain import Brain
from cadenza.application.ports.gateway import Prices
from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import json_text, plain
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import BrainFailed
from cadenza.domain.session import SessionEnd
from cadenza.replay.evaluation.judging import Verdict, verdict_of
from cadenza.replay.evaluation.recorded_history import verdict_on_history
from cadenza.replay.evaluation.scenario import Scenario, scenarios
from cadenza.replay.evaluation.trial import hold_trial
from cadenza.replay.evaluation.view import show
from cadenza.replay.history import History
from cadenza.replay.life import FAILURES_IN_A_ROW
from cadenza.replay.purse import Purse
from cadenza.replay.recorded import JobFile, Limit, Responses, Since, Source

Opened = AbstractAsyncContextManager[tuple[Brain, Prices]]
# Another model than the settings', and another prompt than ours, if any.
OpenModel = Callable[[str | None, str | None], Opened]
Recorded = tuple[JobDefinition, Mapping[str, History]]


def evaluate(
    open_model: OpenModel,
    api: Api,
    out: Output,
    context: CliContext,
    scenario: Annotated[
        list[str] | None, typer.Option(help="Run only this scenario. Repeatable.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Use this model instead of CADENZA_LLM_MODEL.")
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(readable=False, help="Use this prompt instead of the built-in one."),
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(help="Use the recorded history of this job instead of scenarios."),
    ] = None,
    since: Since = "7d",
    file: JobFile = None,
    limit: Limit = 500,
    responses: Responses = None,
    sessions: Annotated[
        int, typer.Option(min=1, max=10_000, help="With --job: hold at most so many.")
    ] = 50,
    list_all: Annotated[bool, typer.Option("--list", help="List the scenarios, and stop.")] = False,
) -> None:
    """Evaluate a prompt or model on scenarios, or on a job's history.

    Each scenario is a job in memory, what its endpoints answered, and one session of the model
    with the real tools; simulated time goes on, and what came of it is judged by effects. Asks the
    provider of the CADENZA_LLM settings, at its price, which no quota counts. Nothing is written.
    Ends with 1 where one fails.

    Example: cadenza planner eval --model gpt-5-mini --scenario flash-sale --scenario injection
    """
    known = scenarios(context.checks())
    if list_all:
        _list(known, out)
        return
    chosen = _chosen(known, scenario, with_history=job is not None)
    text = _read(prompt) if prompt is not None else None
    recorded = None
    if job is not None:
        source = Source(api, out, context, since, limit, file, responses)
        definition = source.job(job)
        if model is not None:  # not the job's own, which would be asked otherwise
            definition = replace(definition, planner=replace(definition.planner, model=None))
        recorded = (definition, source.histories(definition))
    verdicts = asyncio.run(_verdicts(open_model(model, text), chosen, recorded, sessions, out))
    show(verdicts, out)
    raise typer.Exit(0 if all(verdict.passed for verdict in verdicts) else 1)


async def _verdicts(
    opened_model: Opened,
    chosen: Sequence[Scenario],
    recorded: Recorded | None,
    sessions: int,
    out: Output,
) -> list[Verdict]:
    verdicts: list[Verdict] = []
    async with opened_model as (brain, prices):
        failed = 0
        for number, scenario in enumerate(chosen, start=1):
            with out.working(f"{number} of {len(chosen)}: {scenario.name}"):
                trial = await hold_trial(scenario, brain, Purse(1, prices))
            verdicts.append(verdict_of(trial))
            failed = failed + 1 if trial.session.end is SessionEnd.FAILED else 0
            if failed == FAILURES_IN_A_ROW:
                raise _gave_up(verdicts[-1].failures[0])
        if recorded is not None:
            with out.working(f"Living through the answers of {recorded[0].name} again"):
                try:
                    purse = Purse(sessions, prices)
                    verdict = await verdict_on_history(*recorded, brain, purse)
                except BrainFailed as error:
                    raise _gave_up(error.reason) from error
            verdicts.append(verdict)
    return verdicts


def _gave_up(reason: str) -> CommandError:
    return CommandError(
        f"The model failed {FAILURES_IN_A_ROW} times in a row: {reason}. "
        "Check the CADENZA_LLM settings, or try again later"
    )


def _chosen(
    known: Mapping[str, Scenario], names: list[str] | None, *, with_history: bool
) -> list[Scenario]:
    if not names:
        return [] if with_history else list(known.values())
    unknown = [name for name in names if name not in known]
    if unknown:
        raise usage(f"There is no scenario {plain(unknown[0])!r}; there are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def _read(prompt: Path) -> str:
    try:
        text = prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise CommandError(f"--prompt {prompt} cannot be read: {why}") from error
    if not text.strip():
        raise usage(f"--prompt {prompt} is empty: write what the model is told")
    return text


def _list(known: Mapping[str, Scenario], out: Output) -> None:
    if out.as_json:
        for scenario in known.values():
            typer.echo(json_text({"name": scenario.name, "about": scenario.document.about}))
        return
    width = max(map(len, known))
    for scenario in known.values():
        typer.echo(f"{scenario.name:{width}}  {scenario.document.about}")


def register(app: typer.Typer, open_model: OpenModel) -> None:
    command(app, "eval", is_read_in_logs=True)(partial(evaluate, open_model))
