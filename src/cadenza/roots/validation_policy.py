"""What a definition must satisfy, for the API and for commands that check files."""

from functools import partial

from cadenza.adapters.brains.llm.options import Provider, check_model_name
from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.definition import ValidationPolicy
from cadenza.domain.rule import NAMES as OF_A_RULE
from cadenza.manifest.checking import Checks

OF_AN_ANSWER = ("status", "body")  # what success_when may speak of


def validation_policy(
    shell_allowed: bool, closed_ports: frozenset[int], llm_provider: Provider | None = None
) -> ValidationPolicy:
    check = CelExpressions().check

    def check_rule(field: str, expression: str) -> None:
        check(field, expression, OF_A_RULE, yes_or_no_wanted=not field.endswith("run_at"))

    check_answer = partial(check, names=OF_AN_ANSWER)
    check_model = partial(check_model_name, llm_provider)
    return ValidationPolicy(closed_ports, shell_allowed, check_answer, check_rule, check_model)


def checks() -> Checks:
    """Whether commands are allowed, which ports are closed and who is asked is the server's."""
    return Checks(validation_policy(True, frozenset()), CronsimCron(), wall_clock())
