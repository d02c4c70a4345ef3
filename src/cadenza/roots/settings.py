"""Every setting, read once from the environment; all that is wrong is told in one message."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from cadenza.adapters.brains.llm.options import Provider
from cadenza.domain.errors import InstallationError

PREFIX = "CADENZA_"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", env_ignore_empty=True)

    database_url: SecretStr | None = Field(
        default=None,
        description="A PostgreSQL 14 or later; without it an embedded one is started.",
    )
    database_pooler: bool = Field(
        default=False,
        description="The address is a pooler that gives out connections by transaction.",
    )
    connections: Annotated[int, Field(ge=2, le=500)] = Field(
        default=8, description="Database connections of this program, besides one that listens."
    )
    data_folder: Path = Field(
        default=Path(".cadenza"), description="Where the embedded database keeps its files."
    )
    retention_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        default=30, description="How long runs and everything else that is recorded are kept."
    )
    worker_name: str | None = Field(
        default=None, max_length=100, description="Shown with leases; made up where it is not set."
    )
    in_flight: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=200, description="Requests that one scheduler has under way at most."
    )
    in_flight_per_tenant: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=100, description="Of those, for one tenant at most."
    )
    in_flight_per_host: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=20, description="Of those, to one host at most."
    )
    lease_seconds: Annotated[float, Field(ge=3, le=3600)] = Field(
        default=30, description="How long a worker holds what it claimed without renewing."
    )
    tick_seconds: Annotated[float, Field(ge=0.05, le=60)] = Field(
        default=5, description="How often a scheduler looks even when nobody woke it."
    )
    stop_seconds: Annotated[float, Field(ge=0, le=3600)] = Field(
        default=30, description="How long a stopping scheduler waits for what is in flight."
    )
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
    closed_ports: str = Field(
        default="", description="Ports, with commas, that may not be called, like 25, 6000-6010."
    )
    shell_allowed: bool = Field(
        default=False, description="Run commands (shell targets) on this machine."
    )
    shell_folders: str = Field(
        default="",
        description="Folders, with commas, in which commands may work; the first is the default.",
    )
    shell_environment: str = Field(
        default="", description="Names, with commas, of variables that commands are given."
    )
    shell_path: str = Field(default="/usr/local/bin:/usr/bin:/bin", description="PATH of commands.")
    operator_key: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Makes tenants and users over the API; without it nobody can.",
    )
    expected_workers: str = Field(
        default="",
        description="Kinds of workers, with commas, without which /readyz is not content.",
    )
    rate_limit: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        default=60_000, description="Requests a minute that one API key may make."
    )
    sessions_at_once: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=8, description="Analyses that a planner holds at once."
    )
    planner_cycle_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        default=300, description="How often a planner looks through everything."
    )
    planner_batch: Annotated[int, Field(ge=1, le=5000)] = Field(
        default=200, description="Endpoints that a planner takes in one go."
    )
    session_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        default=120, description="How long one analysis may take before it is cut off."
    )
    tokens_per_month: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Tokens that a tenant may use in a month; no limit if not set."
    )
    money_per_month: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None, description="The same in money; needs the prices below."
    )
    llm_provider: Provider | None = Field(
        default=None, description="Who is asked: openai, anthropic, google or openai-compatible."
    )
    llm_model: str | None = Field(default=None, description="The model, as its provider names it.")
    llm_api_key: SecretStr | None = Field(
        default=None, description="The provider's key; a local server may need none."
    )
    llm_base_url: str | None = Field(
        default=None,
        description="The provider's address, like http://localhost:11434/v1; needed for "
        "openai-compatible.",
    )
    llm_timeout_seconds: Annotated[float, Field(gt=0, le=600)] = Field(
        default=60, description="How long one request to a model may take."
    )
    llm_temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        default=None, description="Sent if set; some models take none."
    )
    llm_max_output_tokens: Annotated[int, Field(ge=100, le=1_000_000)] = Field(
        default=2000, description="Tokens of one answer at most."
    )
    llm_session_tokens: Annotated[int, Field(ge=10_000, le=10_000_000)] = Field(
        default=60_000, description="Tokens of one analysis at most; reserved before it."
    )
    llm_stream: bool = Field(
        default=False,
        description="Ask for answers as a stream; for a server or proxy that cuts silent requests.",
    )
    llm_input_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0, description="Price of a million input tokens."
    )
    llm_output_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0, description="Price of a million output tokens."
    )
    log_json: bool = Field(default=False, description="Log as JSON lines.")


def read_settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        lines = [
            f"  {PREFIX}{name.upper()}={_shown(name, each['input'])}: {each['msg']}"
            for each in error.errors()
            if (name := "_".join(str(part) for part in each["loc"]))
        ]
        raise InstallationError("Some settings are not valid:\n" + "\n".join(lines)) from error


def _shown(name: str, value: object) -> str:
    field = Settings.model_fields.get(name)
    if field is not None and field.annotation == (SecretStr | None):
        return "***"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
