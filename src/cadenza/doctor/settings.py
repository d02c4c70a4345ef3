"""Settings that cannot be read, or fight each other; and variables that are none."""

from collections.abc import Iterable, Iterator, Sequence, Set
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from cadenza.adapters.brains.llm.options import Provider
from cadenza.adapters.http.addresses import OPEN_NETWORKS, parse_networks, parse_ports
from cadenza.doctor.checks import Check, right
from cadenza.domain.errors import CadenzaError

# Of the command line, and of `up` and its children; no settings of a program.
OTHERS = frozenset(("CADENZA_API_URL", "CADENZA_API_KEY", "CADENZA_SUPERVISED"))


class Settings(Protocol):
    """Those that are looked at."""

    database_url: SecretStr | None
    database_pooler: bool | None
    listen_database_url: SecretStr | None
    data_folder: Path
    allowed_networks: str
    closed_ports: str
    in_flight: int
    in_flight_per_tenant: int
    in_flight_per_host: int
    lease_seconds: float
    tick_seconds: float
    shell_allowed: bool
    shell_folders: str
    shell_environment: str
    llm_provider: Provider | None
    llm_model: str | None
    llm_session_tokens: int
    llm_tokens_per_day: int


def check_networks(settings: Settings) -> Check:
    written = settings.allowed_networks
    if not written:
        what = f"public addresses (`cadenza up` adds {OPEN_NETWORKS})"
        return right("networks", what)
    try:
        parse_networks(written)
    except CadenzaError as error:
        return Check("networks", "error", str(error), "correct CADENZA_ALLOWED_NETWORKS")
    return right("networks", f"public addresses and {written}")


def check_settings(
    settings: Settings, known: Set[str], environment: Iterable[str]
) -> Iterator[Check]:
    problems = [*_fights(settings), *_unknown_variables(known, environment)]
    yield from problems
    if not problems:
        yield right("settings", "valid, without contradictions")


def _fights(settings: Settings) -> Iterator[Check]:
    for is_so, what, fix in _pairs(settings):
        if is_so:
            yield Check("settings", "warning", what, fix)
    try:
        parse_ports(settings.closed_ports)
    except CadenzaError as error:
        yield Check("settings", "error", str(error), "correct CADENZA_CLOSED_PORTS")


def _pairs(settings: Settings) -> Sequence[tuple[bool, str, str]]:
    """Settings that are valid each by itself, and contradict each other."""
    has_model = settings.llm_provider is not None
    return (
        (
            settings.in_flight_per_tenant > settings.in_flight,
            "a tenant may have more runs in progress than the whole worker",
            "lower CADENZA_IN_FLIGHT_PER_TENANT, or raise CADENZA_IN_FLIGHT",
        ),
        (
            settings.in_flight_per_host > settings.in_flight_per_tenant,
            "a host may have more runs in progress than a tenant",
            "lower CADENZA_IN_FLIGHT_PER_HOST, or raise CADENZA_IN_FLIGHT_PER_TENANT",
        ),
        (
            settings.tick_seconds > settings.lease_seconds,
            "schedulers poll less often than their leases expire",
            "lower CADENZA_TICK_SECONDS, or raise CADENZA_LEASE_SECONDS",
        ),
        (
            bool(settings.shell_folders or settings.shell_environment)
            and not settings.shell_allowed,
            "folders or variables are set for commands, but commands are not allowed",
            "set CADENZA_SHELL_ALLOWED=true, or unset the others",
        ),
        (
            settings.shell_allowed and not settings.shell_folders,
            "commands are allowed, but no folder is, so none can run",
            "list folders in CADENZA_SHELL_FOLDERS",
        ),
        (
            bool(settings.database_pooler) and settings.database_url is None,
            "a pooler is configured, but no database",
            "set CADENZA_DATABASE_URL, or unset CADENZA_DATABASE_POOLER",
        ),
        (
            has_model and settings.llm_model is None,
            "an LLM provider is set, but no model",
            "set CADENZA_LLM_MODEL",
        ),
        (
            settings.llm_model is not None and not has_model,
            "an LLM model is set, but no provider",
            "set CADENZA_LLM_PROVIDER",
        ),
        (
            has_model and 0 < settings.llm_tokens_per_day < settings.llm_session_tokens,
            "a session may use more tokens than the daily limit, so none can start",
            "raise CADENZA_LLM_TOKENS_PER_DAY, or lower CADENZA_LLM_SESSION_TOKENS",
        ),
    )


def _unknown_variables(known: Set[str], environment: Iterable[str]) -> Iterator[Check]:
    """A setting that is written wrongly changes nothing, and nobody is told."""
    for variable in sorted(environment):
        name = variable.upper()
        if name.startswith("CADENZA_") and name not in known | OTHERS:
            near = get_close_matches(name, known, 1)
            fix = (
                f"did you mean {near[0]}?" if near else "list all settings with `cadenza settings`"
            )
            yield Check(
                "settings", "warning", f"{variable} is not a known setting and has no effect", fix
            )
