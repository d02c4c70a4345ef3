"""How long the expressions of owners may take."""

from cadenza.adapters.expressions.pool import Limits
from cadenza.roots.settings import Settings


def expression_limits(settings: Settings) -> Limits:
    return Limits(seconds=settings.expression_ms / 1000)
