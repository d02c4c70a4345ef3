"""Values that nobody gets to see."""

import re
from dataclasses import dataclass

KEPT = "***"  # in place of a secret: keep the one that is stored
_SECRET_FIELD = re.compile(
    r"secret|passw|authori[sz]ation|cookie|credential|(api|access|private)[-_]?key|token$",
    re.IGNORECASE,
)
_NAMES_OF_SECRETS = "secret_headers"  # what is wrong there is the name of a header
_USER_INFO = re.compile(r"//[^/?#]*@")
_URL = re.compile(r"(?i)([a-z][a-z0-9+.-]*)://.")
_ADDRESSES = frozenset(  # of which only the user may be secret
    (
        *("http", "https", "redis", "rediss", "amqp", "amqps"),
        *("nats", "nats+tls", "kafka", "kafka+tls"),
        *("ftp", "file", "gopher", "ws", "wss", "postgresql"),  # written by mistake
    )
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that nobody gets to see: encrypted at rest, masked wherever it is printed."""

    value: str

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"


def is_secret_field(path: str) -> bool:
    """By its name: also where it is unknown, for it may be a secret that was misspelt."""
    return _SECRET_FIELD.search(path) is not None


def quotable(field: str, value: object) -> object:
    """What an error may repeat of the value of a field."""
    if is_secret_field(field) and not field.endswith(_NAMES_OF_SECRETS):
        return Secret("")
    if not isinstance(value, str):
        return value
    match = _URL.match(value)
    if match and match[1].lower() not in _ADDRESSES:
        return f"{match[1]}://***"  # of a notification service: any part of it may be a secret
    masked = _USER_INFO.sub("//***@", value)
    return value if masked == value else masked
