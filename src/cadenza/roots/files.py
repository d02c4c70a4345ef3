"""The commands that work on files and need no server, with what they need to check them."""

import os

import typer

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.system.clock import wall_clock
from cadenza.cli import import_crontab, schema, validate
from cadenza.domain.definition import DoorRules
from cadenza.domain.rule import NAMES as RULE_NAMES
from cadenza.manifest.checking import Checks

NAMES = ("status", "body")  # that success_when knows


def checks() -> Checks:
    """Whether commands are allowed, and which ports are closed, is a matter of the server."""
    rules = DoorRules(
        shell_allowed=True, check_expression=_check_expression, check_rule=_check_rule
    )
    return Checks(rules, CronsimCron(), wall_clock())


def _check_expression(field: str, expression: str) -> None:
    CelExpressions().check(field, expression, NAMES)


def _check_rule(field: str, expression: str) -> None:
    CelExpressions().check(field, expression, RULE_NAMES)


def register(app: typer.Typer) -> None:
    validate.register(app, checks, os.environ)
    schema.register(app)
    import_crontab.register(app, checks)
