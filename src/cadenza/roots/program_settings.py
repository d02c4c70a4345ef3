"""The settings of every program: its database, how much it does at once, keys, whom it may call."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from cadenza.roots.graph_settings import InFlight

PREFIX = "CADENZA_"


class ProgramSettings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        extra="ignore",
        env_ignore_empty=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    database_url: SecretStr | None = Field(
        default=None,
        description="A PostgreSQL 14 or later; without it an embedded one is started. Of several "
        "hosts, with commas, the one that takes writes is used.",
    )
    database_pooler: bool | None = Field(
        default=None,
        description="Whether the address is a pooler that gives out connections by transaction; "
        "found out where it is not set.",
    )
    listen_database_url: SecretStr | None = Field(
        default=None,
        description="The same database without the pooler, for one connection that listens; "
        "without it, programs behind a pooler look once a tick.",
    )
    connections: int = Field(default=8, ge=2, le=500)
    """Database connections of this program, besides one that listens."""
    data_folder: Path = Path(".cadenza")
    """Where the embedded database keeps its files."""
    wal_archive: Path | None = None
    """A folder for the log of the embedded database, so that it can go back to any instant."""
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
