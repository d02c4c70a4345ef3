"""What tests allow, and how they check it."""

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.domain.definition import ValidationPolicy
from cadenza.manifest.checking import Checks
from tests.factories import CRON, NOON

POLICY = ValidationPolicy(
    shell_allowed=True,
    check_expression=lambda field, text: CelExpressions().check(field, text, ("status", "body")),
)
CHECKS = Checks(POLICY, CRON, NOON)
