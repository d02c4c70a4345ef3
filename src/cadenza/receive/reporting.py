"""Saying how the work of a call or message went, to a run that waits for it."""

import asyncio
import json
from http.client import HTTPException
from time import sleep
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from cadenza.domain.errors import CadenzaError, InvalidInput
from cadenza.receive.verifying import Call

Status = Literal["success", "failure"]
TRIES = 5
TIMEOUT = 30.0  # seconds, of each
MAX_ANSWER = 64 * 1024
_STRANGER = "the server answered, but not as Cadenza does: check its address"
_PASSING = frozenset((429, 500, 502, 503, 504))


class NotReported(CadenzaError):
    """The result was not taken; the status is what Cadenza answered, None where it did not."""

    def __init__(self, why: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(why)


def report_result(
    call: Call,
    api: str,
    body: Any = None,
    *,
    status: Status = "success",
    message: str | None = None,
) -> None:
    """To the API, like https://cadenza.example. Tried again where it does not answer: the same
    report twice is one. NotReported where the run has ended, or another result was reported."""
    if call.run_id is None or call.result_token is None:
        raise NotReported("its run does not wait for a result: set await_result on the endpoint")
    if not api.startswith(("http://", "https://")):
        raise InvalidInput("api", api, "give the address of Cadenza, like https://cadenza.example")
    content = json.dumps({"status": status, "body": body, "message": message}).encode()
    request = Request(  # noqa: S310 - the scheme is judged above
        f"{api.rstrip('/')}/api/v1/runs/{quote(call.run_id, safe='')}/result",
        content,
        {"Content-Type": "application/json", "Cadenza-Result-Token": call.result_token},
    )
    for left in reversed(range(TRIES)):
        failed = _failed(request, call.run_id)
        if failed is None:
            return
        if not left or (failed.status is not None and failed.status not in _PASSING):
            raise failed
        sleep(0.2 * 2 ** (TRIES - left))


async def report_result_async(
    call: Call,
    api: str,
    body: Any = None,
    *,
    status: Status = "success",
    message: str | None = None,
) -> None:
    """The same, without holding up the loop."""
    fields: dict[str, Any] = {"status": status, "message": message}
    await asyncio.to_thread(report_result, call, api, body, **fields)


def reply_headers(
    call: Call, status: Status = "success", message: str | None = None
) -> dict[str, str]:
    """Of a message to `call.reply_to`, whose body is the result; in Redis they are fields."""
    if call.run_id is None or call.result_token is None:
        raise NotReported("its run does not wait for a result: set reply_to on the endpoint")
    headers = {
        "cadenza-run-id": call.run_id,
        "cadenza-result-token": call.result_token,
        "cadenza-status": status,
    }
    return headers if message is None else {**headers, "cadenza-message": message}


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """The report would be lost: what is asked after a redirect is asked without it."""


def _failed(request: Request, run_id: str) -> NotReported | None:
    opener = build_opener(_NoRedirects())
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            is_taken = _is_taken(answer.read(MAX_ANSWER), run_id)
            return None if is_taken else NotReported(_STRANGER, answer.status)
    except HTTPError as error:
        with error:
            if 300 <= error.code < 400:
                where = error.headers.get("Location", "another address")
                fix = f"the server redirects to {where}: give the address of Cadenza itself"
                return NotReported(fix, error.code)
            return NotReported(_detail(error.read(MAX_ANSWER)), error.code)
    except (URLError, HTTPException, OSError) as error:
        return NotReported(f"Cadenza does not answer: {error}")


def _is_taken(raw: bytes, run_id: str) -> bool:
    try:
        return str(json.loads(raw)["run_id"]) == run_id
    except (ValueError, KeyError, TypeError):
        return False


def _detail(raw: bytes) -> str:
    try:
        return str(json.loads(raw)["detail"])
    except (ValueError, KeyError, TypeError):
        return "the result was not accepted"
