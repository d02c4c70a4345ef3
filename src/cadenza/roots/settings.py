"""Every setting, read once from the environment; all that is wrong is told in one message."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from cadenza.domain.errors import OperatorError

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
        raise OperatorError("Some settings are not valid:\n" + "\n".join(lines)) from error


def _shown(name: str, value: object) -> str:
    field = Settings.model_fields.get(name)
    if field is not None and field.annotation == (SecretStr | None):
        return "***"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
