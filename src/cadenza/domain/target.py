"""Targets: what an endpoint calls."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import urlsplit

from cadenza.domain.errors import InvalidInput
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.graph_target import GraphTarget, keeping_mandate
from cadenza.domain.queue_target import PASSWORD, QueueTarget
from cadenza.domain.secret import KEPT, Secret, is_secret_field
from cadenza.domain.value import value

DEFAULT_TIMEOUT = timedelta(seconds=30)
MAX_TIMEOUT = timedelta(minutes=30)
ANYWHERE = ""  # any scheduler runs it


@value
class HttpTarget:
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    body: str | None = None
    timeout: timedelta = DEFAULT_TIMEOUT
    max_redirects: int = 0
    success_statuses: tuple[int, ...] = ()  # empty: every 2xx
    success_when: str | None = None  # a CEL expression over `status` and `body`
    awaits_result: bool = False  # 202 is not the end of a run

    @property
    def host(self) -> str:
        """What the limit of requests in flight per host counts by."""
        return (urlsplit(self.url).hostname or "").lower()

    @property
    def origin(self) -> str:
        """Whose its secrets are, like `https://shop.example:8443`."""
        return origin_of(self.url)

    @property
    def masked_values(self) -> tuple[Secret, ...]:
        """What nobody may read where the target repeats it: its secrets, and what its owner wrote
        into a plain header that is named like a credential."""
        plain = [Secret(text) for name, text in self.headers.items() if is_secret_field(name)]
        return (*self.secret_headers.values(), *plain)

    @property
    def runs_on(self) -> str:
        """Which workers claim it."""
        return ANYWHERE


@dataclass(frozen=True, slots=True)
class ShellTarget:
    """A command as a list of arguments; no shell reads it."""

    command: tuple[str, ...]
    folder: str | None = None
    timeout: timedelta = DEFAULT_TIMEOUT

    @property
    def host(self) -> str:
        return "shell"

    @property
    def runs_on(self) -> str:
        return ANYWHERE


Target = HttpTarget | ShellTarget | GraphTarget | FunctionTarget | QueueTarget


def origin_of(url: str) -> str:
    """Scheme, host and port, where it is not the usual one; what is no url is alone with itself."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        return url
    host = f"[{host}]" if ":" in host else host
    is_usual = port in (None, {"http": 80, "https": 443}.get(scheme))
    return f"{scheme}://{host}" if is_usual else f"{scheme}://{host}:{port}"


def only_reads(target: Target) -> bool:
    """Whether it may be called once more, or in spite of a backoff, without doing anything."""
    return isinstance(target, HttpTarget) and target.method.upper() in ("GET", "HEAD")


def secrets_of(target: Target | None) -> Mapping[str, Secret]:
    """By the names under which they are stored: of headers, or the password of a broker."""
    if isinstance(target, HttpTarget):
        return target.secret_headers
    if isinstance(target, QueueTarget) and target.password is not None:
        return {PASSWORD: target.password}
    return {}


def with_secrets(target: Target, secrets: Mapping[str, Secret]) -> Target:
    if isinstance(target, HttpTarget):
        return replace(target, secret_headers=secrets)
    if isinstance(target, QueueTarget):
        return replace(target, password=secrets.get(PASSWORD))
    return target


def masking_secrets(target: Target) -> Target:
    """With the names of its secrets, but not their values."""
    secrets = secrets_of(target)
    return with_secrets(target, dict.fromkeys(secrets, Secret(KEPT))) if secrets else target


def have_same_origin(wanted: Target, stored: Target | None) -> bool:
    return (
        isinstance(wanted, HttpTarget | QueueTarget)
        and isinstance(stored, HttpTarget | QueueTarget)
        and wanted.origin == stored.origin
    )


def leaving_secrets(wanted: Target, stored: Target, named: Collection[str]) -> Target:
    """Without the secrets of another origin that a change does not name: who may write a url could
    else have them sent to it."""
    if have_same_origin(wanted, stored):
        return wanted
    lower_names = {name.lower() for name in named}
    secrets = secrets_of(wanted).items()
    return with_secrets(
        wanted, {name: secret for name, secret in secrets if name.lower() in lower_names}
    )


def dropped_secrets(wanted: Target, stored: Target) -> str | None:
    """What is to be told of secrets that a change of origin has dropped."""
    names = [name for name in secrets_of(stored) if name not in secrets_of(wanted)]
    if not names or have_same_origin(wanted, stored):
        return None
    again = "and are dropped; send them again where the new target may know them"
    if isinstance(stored, QueueTarget) and isinstance(wanted, QueueTarget):
        again = "and is dropped; send it again where the new broker may know it"
        return f"the password belonged to {stored.origin} {again}"
    if not isinstance(stored, HttpTarget) or not isinstance(wanted, HttpTarget):
        return None
    return f"the secret headers {', '.join(names)} belonged to {stored.origin} {again}"


def keeping_stored(wanted: Target, stored: Target | None) -> Target:
    """The target to write, with what its definition leaves as it is: secrets, a mandate."""
    if isinstance(wanted, GraphTarget):
        return keeping_mandate(wanted, stored)
    return keeping_secrets(wanted, stored)


def keeping_secrets(wanted: Target, stored: Target | None, path: str = "secret_headers") -> Target:
    """The target to write: `Secret(KEPT)` leaves the ciphertext of exactly this header name alone.

    Every other secret is to be sealed. A stored secret that does not open is `Secret(KEPT)`, too.
    InvalidInput where there is no secret to keep, or one that belongs to another origin.
    """
    for error in secrets_missing(wanted, stored, path):
        raise error
    if not (secrets := secrets_of(wanted)):
        return wanted
    present = secrets_of(stored if have_same_origin(wanted, stored) else None)
    written = {name: _to_write(name, secret, present) for name, secret in secrets.items()}
    return with_secrets(wanted, written)


def secrets_missing(wanted: Target, stored: Target | None, path: str) -> Iterator[InvalidInput]:
    """Every secret that should be kept and cannot be."""
    if not (secrets := secrets_of(wanted)):
        return
    present, is_moved = secrets_of(stored), not have_same_origin(wanted, stored)
    for name, secret in secrets.items():
        other = _in_another_case(name, present)
        if secret.value != KEPT or (name in present and not is_moved):
            continue
        if other is not None and is_moved and isinstance(stored, HttpTarget | QueueTarget):
            fix = f"the stored secret belongs to {stored.origin}, and is sent nowhere else"
        elif other is None:
            fix = "there is no stored secret to keep"
        elif other.value == KEPT:  # sealed for the other spelling, and nobody can open it
            fix = "the stored secret cannot be read, so its header keeps its case"
        else:
            continue
        fix = f"{fix}; write the secret, or ${{NAME}}"
        yield InvalidInput(_path_of_secret(path, name, wanted), Secret(""), fix)


def _path_of_secret(path: str, name: str, target: Target) -> str:
    """Headers are objects of names; a password is a field of its own."""
    if isinstance(target, QueueTarget):
        return f"{path.removesuffix('secret_headers')}{PASSWORD}"
    return f"{path}.{name}"


def _to_write(name: str, wanted: Secret, stored: Mapping[str, Secret]) -> Secret:
    if wanted.value == KEPT:
        return wanted if name in stored else _in_another_case(name, stored) or wanted
    return Secret(KEPT) if stored.get(name) == wanted else wanted


def _in_another_case(name: str, secrets: Mapping[str, Secret]) -> Secret | None:
    """Upper and lower case are the same in the name of a header."""
    matches = (secret for other, secret in secrets.items() if other.lower() == name.lower())
    return next(matches, None)
