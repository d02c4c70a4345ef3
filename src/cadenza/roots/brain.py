"""The brains: rules, or an LLM from the settings, or a message that says what is missing."""

from datetime import timedelta
from typing import TYPE_CHECKING

from cadenza.adapters.brains.llm.options import LlmOptions, Provider
from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.brains.rules.declared import CelRules
from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.system.ids import new_marker
from cadenza.application.ports.expressions import Expressions
from cadenza.domain.errors import InstallationError
from cadenza.domain.target import Secret
from cadenza.roots.settings import PREFIX, Settings

if TYPE_CHECKING:
    from cadenza.adapters.brains.llm.brain import LlmBrain


def rules_brain(expressions: Expressions | None = None) -> RulesBrain:
    """Whose expressions run in this process unless told otherwise: for who is alone in it."""
    cron = CronsimCron()
    return RulesBrain(cron, CelRules(expressions or CelExpressions(), cron))


def llm_brain(settings: Settings, prompt: str | None = None) -> "LlmBrain":
    """With Cadenza's own prompt, or with somebody's trial of another."""
    options = llm_options(settings)
    try:
        # Here, and not above: who asks no model need not install, or wait for, what asks it.
        from cadenza.adapters.brains.llm.brain import LlmBrain  # noqa: PLC0415
        from cadenza.adapters.brains.llm.prompt import prompt_of  # noqa: PLC0415
    except ImportError as error:
        raise InstallationError(
            "An LLM brain needs more than is installed: pip install 'cadenza[llm]'"
        ) from error
    return LlmBrain(options, new_marker, prompt_of(prompt) if prompt is not None else None)


def llm_options(settings: Settings) -> LlmOptions:
    missing = _missing(settings)
    if missing or settings.llm_provider is None or settings.llm_model is None:
        raise InstallationError("An LLM brain needs more settings:\n" + "\n".join(missing))
    key = settings.llm_api_key
    return LlmOptions(
        provider=settings.llm_provider,
        model=settings.llm_model,
        api_key=Secret(key.get_secret_value()) if key else None,
        base_url=settings.llm_base_url,
        timeout=timedelta(seconds=settings.llm_timeout_seconds),
        temperature=settings.llm_temperature,
        max_output_tokens=settings.llm_max_output_tokens,
        session_tokens=settings.llm_session_tokens,
        stream=settings.llm_stream,
        input_price=settings.llm_input_price,
        output_price=settings.llm_output_price,
    )


def _missing(settings: Settings) -> list[str]:
    """All of it at once, for a person who would otherwise be told four times."""
    compatible = settings.llm_provider is Provider.COMPATIBLE
    wanted = {
        "llm_provider": (settings.llm_provider is None, "who is asked, like openai"),
        "llm_model": (settings.llm_model is None, "which model"),
        "llm_api_key": (settings.llm_api_key is None and not compatible, "the provider's key"),
        "llm_base_url": (settings.llm_base_url is None and compatible, "where it is"),
    }
    return [f"  {PREFIX}{name.upper()}: {why}" for name, (lacks, why) in wanted.items() if lacks]
