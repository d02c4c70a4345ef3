"""Every setting, read once from the environment; all that is wrong is told in one message."""

from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from cadenza.adapters.brains.llm.options import Provider
from cadenza.domain.errors import InstallationError
from cadenza.roots.graph_settings import GraphSettings, InFlight

PREFIX = "CADENZA_"
OPEN_NETWORKS = "loopback,private"  # under `cadenza up`, where nothing else is said
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _also(name: str, older: str) -> AliasChoices:
    return AliasChoices(f"{PREFIX}{name}", f"{PREFIX}{older}")


class ProgramSettings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    database_url: SecretStr | None = None
    """A PostgreSQL 14 or later; without it an embedded one is started."""
    database_pooler: bool = False
    """The address is a pooler that gives out connections by transaction."""
    connections: int = Field(default=8, ge=2, le=500)
    """Database connections of this program, besides one that listens."""
    data_folder: Path = Path(".cadenza")
    """Where the embedded database keeps its files."""
    retention_days: int = Field(default=30, ge=1, le=3650)
    """How long runs and everything else that is recorded are kept."""
    worker_name: str | None = Field(default=None, max_length=100)
    """Shown with leases; made up where it is not set."""
    in_flight: InFlight = 200
    """Requests that one scheduler has under way at most."""
    in_flight_per_tenant: InFlight = 100
    """Of those, for one tenant at most."""
    in_flight_per_host: InFlight = 20
    """Of a tenant's, to one host at most."""
    lease_seconds: float = Field(default=30, ge=3, le=3600)
    """How long a worker holds what it claimed without renewing."""
    tick_seconds: float = Field(default=5, ge=0.05, le=60)
    """How often a scheduler looks even when nobody woke it."""
    stop_seconds: float = Field(default=30, ge=0, le=3600)
    """How long a stopping scheduler waits for what is in flight."""
    master_key: SecretStr | None = Field(
        default=None,
        description="Master keys as base64 or hex, with commas; the first encrypts. Without it: "
        "master.key in the data folder.",
    )
    allowed_networks: str = Field(
        default="",
        description="Networks, with commas, that may be called although they are not public, "
        "like 10.1.0.0/16; the words loopback and private too.",
    )
    closed_ports: str = ""
    """Ports, with commas, that may not be called, like 25, 6000-6010."""
    shell_allowed: bool = False
    """Run commands (shell targets) on this machine."""
    shell_folders: str = ""
    """Folders, with commas, in which commands may work; the first is the default."""
    shell_environment: str = ""
    """Names, with commas, of variables that commands are given."""
    shell_path: str = "/usr/local/bin:/usr/bin:/bin"
    """PATH of commands."""
    admin_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        validation_alias=AliasChoices(f"{PREFIX}ADMIN_KEY", f"{PREFIX}OPERATOR_KEY"),
        description="The key of the installation's admin, who makes tenants and users over the "
        "API; without it nobody can. Its older name CADENZA_OPERATOR_KEY works too.",
    )
    expected_workers: str = ""
    """Kinds of workers, with commas, without which /readyz is not content."""
    rate_limit: int = Field(default=60_000, ge=1, le=10_000_000)
    """Requests a minute that one API key may make."""
    api_connections: int = Field(default=1000, ge=50, le=100_000)
    """Connections of clients that the API has open at most."""
    api_connections_per_address: int = Field(default=200, ge=10, le=100_000)
    """Of those, from one address; behind a proxy all come from its address."""
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


class Settings(GraphSettings, ProgramSettings): ...


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
