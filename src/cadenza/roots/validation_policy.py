"""What a definition must satisfy, for the API and for commands that check files."""

from functools import partial

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.definition import ValidationPolicy
from cadenza.domain.rule import NAMES as OF_A_RULE
from cadenza.manifest.checking import Checks

OF_AN_ANSWER = ("status", "body")  # what success_when may speak of


def validation_policy(
    *, shell_allowed: bool, closed_ports: frozenset[int] = frozenset()
) -> ValidationPolicy:
    return ValidationPolicy(
        closed_ports=closed_ports,
        shell_allowed=shell_allowed,
        check_expression=partial(CelExpressions().check, names=OF_AN_ANSWER),
        check_rule=_check_rule,
    )


def checks() -> Checks:
    """Whether commands are allowed, and which ports are closed, is a matter of the server."""
    return Checks(validation_policy(shell_allowed=True), CronsimCron(), wall_clock())


def _check_rule(field: str, expression: str) -> None:
    is_instant = field.endswith("run_at")
    CelExpressions().check(field, expression, OF_A_RULE, yes_or_no=not is_instant)
