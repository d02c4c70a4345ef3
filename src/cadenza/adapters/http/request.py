"""What is sent: the first request of an attempt, and the ones that redirects lead to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from yarl import URL

from cadenza.domain.instants import iso
from cadenza.domain.run import Claim
from cadenza.domain.target import HttpTarget

REDIRECTS = frozenset((301, 302, 303, 307, 308))
MAX_LOCATION = 4096
_JSON, _TEXT = "application/json", "text/plain; charset=utf-8"
_OF_THE_BODY = frozenset(("content-type", "content-encoding", "content-language"))
_OF_ONE_ORIGIN = frozenset(("authorization", "cookie"))
_SIGNATURE = frozenset(("webhook-id", "webhook-timestamp", "webhook-signature"))


class UnusableUrl(ValueError):
    """A URL that cannot be called; the text says why."""


class UnusableRedirect(UnusableUrl):
    """The same, where a redirect led to it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a URL leads, taken apart once."""

    url: URL
    host: str
    port: int
    host_header: str
    server_name: str  # what a certificate must be for


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    place: Place
    headers: dict[str, str]
    body: bytes | None


@lru_cache(maxsize=10_000)
def place_of(text: str) -> Place:
    try:
        url = URL(text)
    except ValueError as error:
        raise UnusableUrl("it cannot be read") from error
    return _place(url)


def _place(url: URL) -> Place:
    if url.scheme not in ("http", "https"):
        raise UnusableUrl("its scheme is not http or https")
    if url.raw_user is not None or url.raw_password is not None:
        raise UnusableUrl("it holds a user name or a password")
    host, port, shown = url.raw_host, url.port, url.host_port_subcomponent
    if not host or not port or not shown:
        raise UnusableUrl("it names no host or no port")
    return Place(url.with_fragment(None), host, port, shown, host.removesuffix("."))


def aimed(url: URL, word: str) -> URL:
    """The same URL with the guard's word for its host."""
    return url.with_host(word)


def first_request(
    claim: Claim, target: HttpTarget, key: str, body: bytes | None, signature: Mapping[str, str]
) -> Request:
    headers = dict(target.headers)
    for name, secret in target.secret_headers.items():
        headers[name] = secret.value
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = _JSON if body.lstrip()[:1] in (b"{", b"[") else _TEXT
    headers["Idempotency-Key"] = key
    headers["Cadenza-Attempt"] = str(claim.attempt)
    headers["Cadenza-Slot"] = iso(claim.slot_at)
    headers.update(signature)
    place = place_of(target.url)
    headers["Host"] = place.host_header
    return Request(target.method, place, headers, body)


def redirected(request: Request, status: int, location: str, target: HttpTarget) -> Request:
    """The request that a redirect asks for, without what only the first host may know."""
    place = _next_place(request.place.url, location)
    onward = replace(request, place=place, headers={**request.headers, "Host": place.host_header})
    if _loses_its_body(request.method, status):
        method = "HEAD" if request.method == "HEAD" else "GET"
        headers = _without(onward.headers, _OF_THE_BODY | _SIGNATURE)
        onward = replace(onward, method=method, headers=headers, body=None)
    if place.url.origin() != request.place.url.origin():
        secret = {name.lower() for name in target.secret_headers}
        headers = _without(onward.headers, _OF_ONE_ORIGIN | _SIGNATURE | secret)
        onward = replace(onward, headers=headers)
    return onward


def _next_place(url: URL, location: str) -> Place:
    if len(location) > MAX_LOCATION:
        raise UnusableRedirect("it is too long")
    try:
        return _place(url.join(URL(location)))
    except UnusableUrl as error:
        raise UnusableRedirect(str(error)) from error
    except ValueError as error:
        raise UnusableRedirect("it cannot be read") from error


def _loses_its_body(method: str, status: int) -> bool:
    return (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST")


def _without(headers: Mapping[str, str], names: frozenset[str] | set[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
