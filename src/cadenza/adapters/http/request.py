"""What is sent: the first request of an attempt, and the ones that redirects lead to."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from yarl import URL

from cadenza.application.ports.tracing import present_traceparent
from cadenza.domain.instants import iso
from cadenza.domain.run import Claim
from cadenza.domain.target import HttpTarget
from cadenza.domain.value import value

REDIRECTS = frozenset((301, 302, 303, 307, 308))
MAX_LOCATION = 4096
_UNREADABLE = (ValueError, IndexError)  # the library has both, the second for `http://u@[]@`
_JSON, _TEXT = "application/json", "text/plain; charset=utf-8"
_OF_THE_BODY = frozenset(("content-type", "content-encoding", "content-language"))
_OF_ONE_ORIGIN = frozenset(("authorization", "cookie", "cadenza-result-token"))
_SIGNATURE = frozenset(("webhook-id", "webhook-timestamp", "webhook-signature"))


class UnusableUrl(ValueError):
    """A URL that cannot be called; the text says why."""


class UnusableRedirect(UnusableUrl):
    """The same, where a redirect led to it."""


@value
class Location:
    url: URL
    host: str
    port: int
    host_header: str
    server_name: str  # what a certificate must be for


@value
class Request:
    method: str
    location: Location
    headers: dict[str, str]
    body: bytes | None


@lru_cache(maxsize=10_000)
def location_of(text: str) -> Location:
    try:
        url = URL(text)
    except _UNREADABLE as error:
        raise UnusableUrl("it cannot be read") from error
    return _location(url)


def _location(url: URL) -> Location:
    if url.scheme not in ("http", "https"):
        raise UnusableUrl("its scheme is not http or https")
    if url.raw_user is not None or url.raw_password is not None:
        raise UnusableUrl("it holds a user name or a password")
    host, port, host_header = url.raw_host, url.port, url.host_port_subcomponent
    if not host or not port or not host_header:
        raise UnusableUrl("it names no host or no port")
    return Location(url.with_fragment(None), host, port, host_header, host.removesuffix("."))


def first_request(
    claim: Claim,
    target: HttpTarget,
    key: str,
    body: bytes | None,
    signature: Mapping[str, str],
    token: str | None = None,
) -> Request:
    headers = dict(target.headers)
    for name, secret in target.secret_headers.items():
        headers[name] = secret.value
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = _JSON if body.lstrip()[:1] in (b"{", b"[") else _TEXT
    headers["Idempotency-Key"] = key
    headers["Cadenza-Attempt"] = str(claim.attempt)
    headers["Cadenza-Slot"] = iso(claim.slot_at)
    if token is not None:
        headers["Cadenza-Run-Id"] = str(claim.run_id)
        headers["Cadenza-Result-Token"] = token
    headers.update(signature)
    traceparent = present_traceparent.get()
    if traceparent is not None and not any(name.lower() == "traceparent" for name in headers):
        headers["traceparent"] = traceparent
    location = location_of(target.url)
    headers["Host"] = location.host_header
    return Request(target.method, location, headers, body)


def redirected(request: Request, status: int, header: str, target: HttpTarget) -> Request:
    """The request that a redirect asks for, without what only the first host may know."""
    location = _next_location(request.location.url, header)
    headers = {**request.headers, "Host": location.host_header}
    onward = replace(request, location=location, headers=headers)
    is_post = request.method == "POST"
    if (status == 303 and request.method != "HEAD") or (status in (301, 302) and is_post):
        headers = _without(onward.headers, _OF_THE_BODY | _SIGNATURE)
        onward = replace(onward, method="GET", headers=headers, body=None)
    if location.url.origin() != request.location.url.origin():
        secret = {name.lower() for name in target.secret_headers}
        headers = _without(onward.headers, _OF_ONE_ORIGIN | _SIGNATURE | secret)
        onward = replace(onward, headers=headers)
    return onward


def polled(request: Request, header: str, target: HttpTarget) -> Request:
    """The request for what a 202 promised, at the same origin unless redirects are followed."""
    onward = redirected(request, 303, header, target)
    if onward.location.url.origin() != request.location.url.origin() and not target.max_redirects:
        raise UnusableRedirect(
            "its 202 names a Location of another origin, which is only asked where max_redirects "
            "allows redirects"
        )
    return onward


def _next_location(url: URL, header: str) -> Location:
    if len(header) > MAX_LOCATION:
        raise UnusableRedirect("it is too long")
    try:
        return _location(url.join(URL(header)))
    except UnusableUrl as error:
        raise UnusableRedirect(str(error)) from error
    except _UNREADABLE as error:
        raise UnusableRedirect("it cannot be read") from error


def _without(headers: Mapping[str, str], names: frozenset[str] | set[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
