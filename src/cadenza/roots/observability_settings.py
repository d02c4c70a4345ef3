"""Settings of who may watch a program, and where its traces go."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class ObservabilitySettings(BaseSettings):
    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    probe_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Where a worker, or a program of functions, answers /healthz, /readyz and "
        "/metrics; under `up` the first of four. Without it nowhere.",
    )
    probe_host: str = "127.0.0.1"
    """The address for that; 0.0.0.0 for all networks."""
    metrics: bool = True
    """Count what happens, for /metrics."""
    metrics_token: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="Who sends it as a bearer token may read /metrics; on the API the admin's key "
        "may, too.",
    )
    metrics_open: bool = False
    """Whoever reaches the API may read /metrics there."""
    metrics_tenants: str = ""
    """Names, with commas, of tenants whose quotas are shown one by one."""
    trace_ratio: float = Field(default=0, ge=0, le=1, allow_inf_nan=False)
    """The share of runs, sessions and API requests that are traced, like 0.01; 0 is none."""
    trace_url: str | None = Field(
        default=None,
        pattern="^https?://",
        description="Where traces are sent by OTLP over HTTP, like "
        "http://localhost:4318/v1/traces; without it, where OTEL_EXPORTER_OTLP_ENDPOINT says.",
    )
    trace_headers: SecretStr | None = None
    """Headers sent with them, like Authorization=Bearer 123, with commas."""
