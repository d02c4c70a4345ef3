"""Verdicts as JSON lines, or as a table."""

from collections.abc import Sequence

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from cadenza.cli.output import Output, console
from cadenza.cli.terminal_text import json_text, plain
from cadenza.replay.evaluation.judging import Verdict


def show(verdicts: Sequence[Verdict], out: Output) -> None:
    if out.as_json:
        for verdict in verdicts:
            typer.echo(json_text(_record(verdict)))
        return
    console().print(_table(verdicts))
    passed, tokens = sum(verdict.passed for verdict in verdicts), sum(v.tokens for v in verdicts)
    cost = sum(verdict.cost for verdict in verdicts)
    money = f", {cost:.4f} in money" if cost else ""
    typer.echo(f"{passed} of {len(verdicts)} passed; {tokens:,} tokens{money}.")


def _record(verdict: Verdict) -> dict[str, object]:
    return {
        "scenario": verdict.name,
        "passed": verdict.passed,
        "expected": verdict.expected,
        "did": verdict.did,
        "failures": list(verdict.failures),
        "tokens": verdict.tokens,
        "cost": verdict.cost,
    }


def _table(verdicts: Sequence[Verdict]) -> Table:
    rows = Table(box=SIMPLE_HEAD)
    for title in ("scenario", "expected", "what it did", "result"):
        rows.add_column(title, overflow="fold", no_wrap=title == "scenario")
    for title in ("tokens", "cost"):
        rows.add_column(title, justify="right")
    for verdict in verdicts:
        why = f"[red]FAIL[/red] {_escaped('; '.join(verdict.failures))}"
        cost = f"{verdict.cost:.4f}" if verdict.cost else "–"
        rows.add_row(
            _escaped(verdict.name),
            _escaped(verdict.expected),
            _escaped(verdict.did),
            "[green]pass[/green]" if verdict.passed else why,
            f"{verdict.tokens:,}",
            cost,
        )
    return rows


def _escaped(text: str) -> str:
    """What a model wrote is neither markup nor a terminal's command."""
    return plain(text).replace("[", r"\[")
