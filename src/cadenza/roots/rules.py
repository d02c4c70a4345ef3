"""`cadenza rules`, with the expressions that it judges by."""

import typer

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.cli import rules


def register(app: typer.Typer) -> None:
    rules.register(app, CelExpressions())
