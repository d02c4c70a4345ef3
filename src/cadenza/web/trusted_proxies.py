"""Where a request came from, when a proxy that is trusted passed it on.

What others write into X-Forwarded-For is not looked at: anybody could claim to be anybody, and
leave limits by address to somebody else. Each proxy appends who it was asked by, so that the list
is read from its end, and the first address that is no proxy of ours is who asked.
"""

from collections.abc import Callable
from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

FOR, PROTO = b"x-forwarded-for", b"x-forwarded-proto"
MOST_HOPS = 20
IsTrusted = Callable[[str], bool]


class TrustedProxies:
    def __init__(self, app: ASGIApp, is_trusted: IsTrusted) -> None:
        self._app = app
        self._is_trusted = is_trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = scope.get("client")
        if scope["type"] == "http" and peer is not None and self._is_trusted(peer[0]):
            scope = {
                **scope,
                "client": (self._asked_by(scope, peer[0]), 0),
                "scheme": _scheme(scope) or scope["scheme"],
            }
        await self._app(scope, receive, send)

    def _asked_by(self, scope: Scope, peer: str) -> str:
        nearest = peer
        for hop in reversed(_listed(scope, FOR)[-MOST_HOPS:]):
            address = _address(hop)
            if address is None:  # nobody before can be believed
                break
            nearest = address
            if not self._is_trusted(address):
                break
        return nearest


def _listed(scope: Scope, name: bytes) -> list[str]:
    values = [value.decode("latin1") for key, value in scope["headers"] if key == name]
    return [word.strip() for value in values for word in value.split(",")]


def _scheme(scope: Scope) -> str | None:
    """As the nearest proxy has it."""
    schemes = _listed(scope, PROTO)
    return schemes[-1].lower() if schemes and schemes[-1].lower() in ("http", "https") else None


def _address(hop: str) -> str | None:
    """192.0.2.1, 192.0.2.1:4711, 2001:db8::1 or [2001:db8::1]:4711."""
    if hop.startswith("["):
        hop = hop[1:].partition("]")[0]
    elif hop.count(":") == 1:
        hop = hop.partition(":")[0]
    try:
        return str(ip_address(hop))
    except ValueError:
        return None
