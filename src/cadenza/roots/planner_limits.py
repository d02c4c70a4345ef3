"""What models may cost, from the settings: limits, and prices."""

from cadenza.application.ports.clock import Clock
from cadenza.domain.quota import Limits, PlannerLimits
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.settings import Settings


def planner_limits(settings: Settings) -> PlannerLimits:
    """0 is no limit."""
    return PlannerLimits(
        Limits(settings.llm_tokens_per_month or None, settings.llm_money_per_month or None),
        Limits(settings.llm_tokens_per_day or None, settings.llm_money_per_day or None),
        settings.llm_session_tokens,
    )


def llm_prices(settings: Settings, clock: Clock) -> LoadedPrices:
    """The known ones, and what the settings say of the model that is asked."""
    own = {"input": settings.llm_input_price, "output": settings.llm_output_price}
    if settings.llm_model is None or not any(own.values()):
        return LoadedPrices(clock, settings.prices)
    return LoadedPrices(clock, {settings.llm_model: own, **settings.prices})
