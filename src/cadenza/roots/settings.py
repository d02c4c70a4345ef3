"""Every setting, read once from the environment; all that is wrong is told in one message."""

from typing import Annotated

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from cadenza.adapters.brains.llm.options import Provider
from cadenza.domain.errors import InstallationError
from cadenza.roots.graph_settings import GraphSettings
from cadenza.roots.observability_settings import ObservabilitySettings
from cadenza.roots.program_settings import PREFIX, ProgramSettings

Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _also(name: str, older: str) -> AliasChoices:
    return AliasChoices(f"{PREFIX}{name}", f"{PREFIX}{older}")


class ServerSettings(BaseSettings):
    """Of the API, of the planner and of its models."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    admin_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        validation_alias=AliasChoices(f"{PREFIX}ADMIN_KEY", f"{PREFIX}OPERATOR_KEY"),
        description="The key of the installation's admin, who makes tenants and users over the "
        "API; without it nobody can. Its older name CADENZA_OPERATOR_KEY works too.",
    )
    public_url: str | None = Field(default=None, pattern=r"^https?://[^/?#]+/?$")
    """Where people reach the dashboard, like https://cadenza.example.org; for links and OpenID."""
    oidc_issuer: str | None = Field(default=None, pattern=r"^https?://[^\s?#]+$")
    """The OpenID provider that people sign in at, as it writes itself."""
    oidc_client_id: str | None = None
    """What the provider calls this installation."""
    oidc_client_secret: SecretStr | None = None
    """Its secret there; a public client has none."""
    oidc_groups: str = ""
    """Roles by group of the provider, with commas, like admins=owner, team=operator."""
    oidc_domains: str = ""
    """Tenants by domain, with commas, like example.org=default: their people need no invitation."""
    expected_workers: str = ""
    """Kinds of workers, with commas, without which /readyz is not content."""
    rate_limit: int = Field(default=60_000, ge=1, le=10_000_000)
    """Requests a minute that one API key may make."""
    api_connections: int = Field(default=1000, ge=50, le=100_000)
    """Connections of clients that the API has open at most."""
    api_connections_per_address: int = Field(default=200, ge=10, le=100_000)
    """Of those, from one address; a trusted proxy has no such limit."""
    trusted_proxies: str = Field(
        default="",
        description="Networks, with commas, of proxies in front of the API whose X-Forwarded-For "
        "and X-Forwarded-Proto are believed, like 10.1.0.0/16; loopback and private too.",
    )
    expression_ms: int = Field(default=50, ge=1, le=10_000)
    """Processor time that one expression of an owner (a rule, success_when) may use."""
    sessions_at_once: int = Field(default=8, ge=1, le=1000)
    """Analyses that a planner holds at once."""
    planner_cycle_seconds: float = Field(default=300, ge=1, le=86_400)
    """How often a planner looks through everything."""
    planner_batch: int = Field(default=200, ge=1, le=5000)
    """Endpoints that a planner takes in one go."""
    session_seconds: float = Field(default=120, ge=1, le=3600)
    """How long one analysis may take before it is cut off."""
    llm_provider: Provider | None = None
    """Who is asked: openai, anthropic, google or openai-compatible."""
    llm_model: str | None = None
    """The model, as its provider names it."""
    llm_api_key: SecretStr | None = None
    """The provider's key; a local server may need none."""
    llm_base_url: str | None = None
    """The provider's address, like http://localhost:11434/v1; needed for openai-compatible."""
    llm_timeout_seconds: float = Field(default=60, gt=0, le=600)
    """How long one request to a model may take."""
    llm_temperature: float | None = Field(default=None, ge=0, le=2)
    """Sent if set; some models take none."""
    llm_max_output_tokens: int = Field(default=2000, ge=100, le=1_000_000)
    """Tokens of one answer at most."""
    llm_session_tokens: int = Field(default=50_000, ge=10_000, le=10_000_000)
    """Tokens of one analysis at most; reserved before it."""
    llm_tokens_per_day: int = Field(default=500_000, ge=0)
    """Tokens that models may use for one job in a day; 0 is no limit. A job may have its own."""
    llm_money_per_day: Money = 2
    """The same in dollars."""
    llm_tokens_per_month: int = Field(
        default=5_000_000,
        ge=0,
        validation_alias=_also("LLM_TOKENS_PER_MONTH", "TOKENS_PER_MONTH"),
        description="Tokens that models may use for one tenant in a month; 0 is no limit.",
    )
    llm_money_per_month: Money = Field(
        default=20,
        validation_alias=_also("LLM_MONEY_PER_MONTH", "MONEY_PER_MONTH"),
        description="The same in dollars.",
    )
    llm_stream: bool = False
    """Ask for answers as a stream; for a server or proxy that cuts silent requests."""
    llm_input_price: Money = 0
    """Dollars for a million input tokens of the model; where both are 0, the known price."""
    llm_output_price: Money = 0
    """Dollars for a million output tokens."""
    log_json: bool = False
    """Log as JSON lines."""


class Settings(ObservabilitySettings, GraphSettings, ServerSettings, ProgramSettings): ...


def read_settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        lines = "\n".join(map(_problem, error.errors()))
        raise InstallationError(f"Some settings are not valid:\n{lines}") from error


def variables_of(name: str) -> list[str]:
    """The variables that a setting is read from, the documented one first."""
    alias = Settings.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [f"{PREFIX}{name.upper()}"]


def _problem(error: ErrorDetails) -> str:
    location = error["loc"][0]  # a setting, or the first variable of one that has several
    name = next(
        field for field in Settings.model_fields if location in (field, *variables_of(field))
    )
    is_secret = Settings.model_fields[name].annotation == (SecretStr | None)
    text = "***" if is_secret else str(error["input"])
    text = text if len(text) <= 60 else f"{text[:57]}…"
    return f"  {' or '.join(variables_of(name))}={text}: {error['msg']}"
