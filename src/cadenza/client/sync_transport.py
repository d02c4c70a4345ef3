"""HTTP without a loop, by the standard library."""

import http.client
import time
import urllib.request
from contextlib import closing
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from cadenza.client.core import LOOPBACK, Flow, Request, Response, Wait
from cadenza.client.errors import Unreachable

T = TypeVar("T")
TIMEOUT = 30.0
CUT = (ConnectionResetError, BrokenPipeError, http.client.IncompleteRead)


class SyncTransport:
    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self._url = url
        self._timeout = timeout
        # One on this machine is asked without the proxy of the environment.
        is_near = urlsplit(url).hostname in LOOPBACK
        proxies = [urllib.request.ProxyHandler({})] if is_near else []
        self._opener = urllib.request.build_opener(_NoRedirects, *proxies)

    def drive(self, flow: Flow[T], timeout: float | None = None) -> T:
        """Do what it asks for until its result is there."""
        try:
            asked = next(flow)
            while True:
                if isinstance(asked, Wait):
                    time.sleep(asked.seconds)
                    asked = flow.send(None)
                    continue
                try:
                    response = self._exchange(asked, timeout or self._timeout)
                except Unreachable as error:
                    asked = flow.throw(error)
                else:
                    asked = flow.send(response)
        except StopIteration as ended:
            return ended.value

    def open_stream(self, request: Request, silence: float) -> Any:
        """The answer while it comes, by lines; TimeoutError where nothing comes for so long."""
        return self._open(request, silence)

    def _exchange(self, request: Request, timeout: float) -> Response:
        try:
            with closing(self._open(request, timeout)) as answer:
                headers = {name.lower(): value for name, value in answer.headers.items()}
                return Response(answer.status, headers, answer.read())
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error

    def _open(self, request: Request, timeout: float) -> Any:
        # The scheme was checked: urllib would open files too.
        asked = urllib.request.Request(  # noqa: S310
            request.url, request.body, dict(request.headers), method=request.method
        )
        try:
            return self._opener.open(asked, timeout=timeout)
        except HTTPError as error:
            return error  # an answer, too
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> Unreachable:
        reason = error.reason if isinstance(error, URLError) else error
        reason = reason if isinstance(reason, BaseException) else error
        return Unreachable(self._url, reason, was_cut=isinstance(reason, CUT))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """The key would go with it, to wherever it leads."""
