"""What models may cost, from the settings: limits, and prices."""

from collections.abc import Sequence
from uuid import UUID

import structlog

from cadenza.application.ports.brain import Brain
from cadenza.application.ports.clock import Clock
from cadenza.domain.billing import TokenUsage
from cadenza.domain.endpoint import Job
from cadenza.domain.errors import InvalidInput
from cadenza.domain.quota import Limits, PlannerLimits
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.settings import Settings

log = structlog.get_logger()


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


def warn_of_unknown_price(settings: Settings, clock: Clock, brains: Sequence[Brain]) -> None:
    usual = Job(UUID(int=0), UUID(int=0), "")
    for model in filter(None, (brain.model_for(usual) for brain in brains)):
        try:
            llm_prices(settings, clock).credits(model.api, model.name, TokenUsage(1, 1))
        except InvalidInput:
            why = "limits of money do not hold, and no account can pay; see CADENZA_PRICES"
            log.warning("no price is known for the model", model=model.name, so=why)
