"""What can be wrong with an installation, each with its fix."""

import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path

from cadenza.adapters.http.addresses import parse_networks, parse_ports
from cadenza.domain.errors import CadenzaError
from cadenza.roots.settings import OPEN_NETWORKS, PREFIX, Settings, variables_of

LEAST_DISK = 1024**3  # bytes; a database without room stops
FEW_DISK = 5 * 1024**3
# Of the command line, and of `up` and its children; no settings of a program.
OTHERS = frozenset(("CADENZA_API_URL", "CADENZA_API_KEY", "CADENZA_SUPERVISED"))


@dataclass(frozen=True, slots=True)
class Check:
    """Wrong: it does not work so. Odd: it works, but hardly as it was meant."""

    name: str
    state: str  # right, odd or wrong
    what: str
    fix: str = ""


def right(name: str, what: str) -> Check:
    return Check(name, "right", what)


def check_versions(server_version: str | None) -> Iterator[Check]:
    ours = version("cadenza")
    yield right("versions", f"cadenza {ours}, Python {platform.python_version()}")
    if server_version is not None and server_version != ours:
        fix = "restart it with the new version, or install the same one here"
        yield Check("versions", "odd", f"the server is cadenza {server_version}", fix)


def check_disk(folder: Path) -> Check:
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    what = f"{free / 1024**3:.1f} GB free in {folder}"
    if free >= FEW_DISK:
        return right("disk", what)
    fix = "free some, lower CADENZA_RETENTION_DAYS, or move CADENZA_DATA_FOLDER"
    return Check("disk", "wrong" if free < LEAST_DISK else "odd", what, fix)


def check_networks(settings: Settings) -> Check:
    written = settings.allowed_networks
    if not written:
        what = f"public addresses alone; under `cadenza up` {OPEN_NETWORKS} too"
        return right("networks", what)
    try:
        parse_networks(written)
    except CadenzaError as error:
        return Check("networks", "wrong", str(error), "mend CADENZA_ALLOWED_NETWORKS")
    return right("networks", f"public addresses, and {written}")


def check_settings(settings: Settings) -> Iterator[Check]:
    found = [*_fights(settings), *_unknown_variables(os.environ)]
    yield from found
    if not found:
        yield right("settings", "all can be read, and none fights another")


def _fights(settings: Settings) -> Iterator[Check]:
    for is_so, what, fix in _pairs(settings):
        if is_so:
            yield Check("settings", "odd", what, fix)
    try:
        parse_ports(settings.closed_ports)
    except CadenzaError as error:
        yield Check("settings", "wrong", str(error), "mend CADENZA_CLOSED_PORTS")


def _pairs(settings: Settings) -> Sequence[tuple[bool, str, str]]:
    """Settings that are valid each by itself, and contradict each other."""
    has_model = settings.llm_provider is not None
    return (
        (
            settings.in_flight_per_tenant > settings.in_flight,
            "a tenant may have more in flight than the whole worker",
            "lower CADENZA_IN_FLIGHT_PER_TENANT, or raise CADENZA_IN_FLIGHT",
        ),
        (
            settings.in_flight_per_host > settings.in_flight_per_tenant,
            "a host may have more in flight than a tenant",
            "lower CADENZA_IN_FLIGHT_PER_HOST, or raise CADENZA_IN_FLIGHT_PER_TENANT",
        ),
        (
            settings.tick_seconds > settings.lease_seconds,
            "a scheduler looks less often than its leases end",
            "lower CADENZA_TICK_SECONDS, or raise CADENZA_LEASE_SECONDS",
        ),
        (
            bool(settings.shell_folders or settings.shell_environment)
            and not settings.shell_allowed,
            "folders or variables are given to commands, and commands are not allowed",
            "set CADENZA_SHELL_ALLOWED=true, or take the others away",
        ),
        (
            settings.shell_allowed and not settings.shell_folders,
            "commands are allowed, and no folder is: none can run",
            "name folders in CADENZA_SHELL_FOLDERS",
        ),
        (
            settings.database_pooler and settings.database_url is None,
            "a pooler is said to be there, and no database is named",
            "set CADENZA_DATABASE_URL, or take CADENZA_DATABASE_POOLER away",
        ),
        (
            has_model and settings.llm_model is None,
            "a provider of models is named, and no model",
            "set CADENZA_LLM_MODEL",
        ),
        (
            settings.llm_model is not None and not has_model,
            "a model is named, and no provider",
            "set CADENZA_LLM_PROVIDER",
        ),
        (
            has_model and 0 < settings.llm_tokens_per_day < settings.llm_session_tokens,
            "a session may use more tokens than a day has: none is ever held",
            "raise CADENZA_LLM_TOKENS_PER_DAY, or lower CADENZA_LLM_SESSION_TOKENS",
        ),
    )


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[Check]:
    """A setting that is written wrongly changes nothing, and nobody is told."""
    known = {variable for name in Settings.model_fields for variable in variables_of(name)}
    for variable in sorted(environment):
        name = variable.upper()
        if name.startswith(PREFIX) and name not in known | OTHERS:
            near = get_close_matches(name, known, 1)
            fix = f"did you mean {near[0]}?" if near else "cadenza settings shows those there are"
            yield Check("settings", "odd", f"{variable} is no setting, and changes nothing", fix)
