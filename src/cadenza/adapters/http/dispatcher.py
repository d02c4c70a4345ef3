"""One HTTP attempt: to an address that may be called, within its time, with a bounded answer."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.metadata import version

from aiohttp import (
    ClientConnectorError,
    ClientOSError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    ServerDisconnectedError,
)

from cadenza.adapters.http.addresses import AddressPolicy
from cadenza.adapters.http.answer import ACCEPTED, RawBody, UnreadableAnswer, read_body
from cadenza.adapters.http.connections import GuardedConnector, made_connection
from cadenza.adapters.http.failures import failure
from cadenza.adapters.http.guard import BlockedAddress, Guard
from cadenza.adapters.http.look_up import LookUp
from cadenza.adapters.http.polling import (
    ACCEPTED_STATUS,
    NOT_YET,
    PASSING,
    first_of,
    poll_gap,
    poll_gaps,
)
from cadenza.adapters.http.request import REDIRECTS, Request, first_request, polled, redirected
from cadenza.adapters.http.retry_after import retry_after
from cadenza.application.expressions import yes_or_no
from cadenza.application.ports.awaited_results import Results
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.expressions import Expressions, Owner, Question
from cadenza.application.ports.signing_keys import Signer
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import humanize
from cadenza.domain.redaction import redacted
from cadenza.domain.result import Report
from cadenza.domain.run import Body, Claim, Outcome, RunStatus
from cadenza.domain.target import HttpTarget

MAX_HEADERS = 100
MAX_HEADER = 8190  # bytes of one header, and of the status line
READ_AHEAD = 16 * 1024
LARGE = 8 * 1024  # bytes of a body that takes a moment to parse

_NO_TIMEOUT = ClientTimeout(total=None, sock_connect=None)  # ours covers everything
_SENT_AGAIN_BY_THE_LIBRARY = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "DELETE"))


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: RawBody
    unreadable: str | None
    retry_after: timedelta | None
    request: Request | None = None  # that it answers, where it is not the end
    location: str | None = None


@dataclass(slots=True)
class _Progress:
    """How far an attempt got, should it not complete."""

    status_code: int | None = None


class HttpDispatcher:
    """Keeps connections open between runs; close it when the worker ends."""

    def __init__(
        self,
        policy: AddressPolicy,
        signer: Signer,
        clock: Clock,
        expressions: Expressions,
        look_up: LookUp | None = None,
        results: Results | None = None,  # None: no run waits, as for test calls
    ) -> None:
        self._signer = signer
        self._clock = clock
        self._expressions = expressions
        self._results = results
        self._guard = Guard(policy, look_up)
        self._turn = asyncio.Lock()
        self._session = ClientSession(
            connector=GuardedConnector(self._guard),
            cookie_jar=DummyCookieJar(),
            headers={
                "User-Agent": f"cadenza/{version('cadenza')}",
                "Accept": "*/*",
                "Accept-Encoding": ACCEPTED,
            },
            trust_env=False,  # no proxy, no .netrc
            auto_decompress=False,
            timeout=_NO_TIMEOUT,
            read_bufsize=READ_AHEAD,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
            max_headers=MAX_HEADERS,
        )

    async def close(self) -> None:
        self._guard.close()
        await self._session.close()

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, HttpTarget)
        progress = _Progress()
        try:
            if target.awaits_result and self._results is not None:
                outcome = await self._until_result(claim, target, progress, self._results)
            else:
                async with asyncio.timeout(target.timeout.total_seconds()):
                    answer = await self._attempt(claim, target, progress)
                outcome = await self._judge(claim, target, answer)
        except TimeoutError:
            message = f"no complete answer within {humanize(target.timeout)}"
            outcome = Outcome(RunStatus.TIMEOUT, "timeout", message, progress.status_code)
        except Exception as error:  # noqa: BLE001 - what goes wrong is an outcome
            outcome = failure(error, progress.status_code)
        if outcome.error_message:
            message = redacted(outcome.error_message, target.masked_values)
            return replace(outcome, error_message=message)
        return outcome

    async def _until_result(
        self, claim: Claim, target: HttpTarget, progress: _Progress, results: Results
    ) -> Outcome:
        """A 202 is not the end: its Location has it, or somebody reports it with our token."""
        try:
            async with asyncio.timeout(target.timeout.total_seconds()):
                token, result = await results.expect(claim)
                if result is None:  # else an earlier attempt's, whose worker was lost
                    result = await self._attempt(claim, target, progress, token)
                if isinstance(result, _Answer) and result.status == ACCEPTED_STATUS:
                    polling = self._poll(result, target, progress)
                    result = await first_of(polling, results.wait(claim.run_id))
        except TimeoutError:
            result = await results.close(claim.run_id)
            if result is None and progress.status_code == ACCEPTED_STATUS:
                message = f"it was accepted, but has no result within {humanize(target.timeout)}"
                return Outcome(RunStatus.TIMEOUT, "no_result", message, progress.status_code)
            if result is None:
                raise
        if isinstance(result, Report):
            return await self._judge_report(claim, target, result)
        await results.close(claim.run_id)
        return await self._judge(claim, target, result)

    async def _poll(self, answer: _Answer, target: HttpTarget, progress: _Progress) -> _Answer:
        """Ask its Location with growing gaps; without one, only a report ends it."""
        gaps = poll_gaps()
        while answer.location and answer.request is not None:
            request = polled(answer.request, answer.location, target)
            await asyncio.sleep(poll_gap(next(gaps), answer.retry_after))
            try:
                async with await self._send(request) as response:
                    latest = await self._read(response, progress, request)
            except PASSING as error:
                if isinstance(error, BlockedAddress):
                    raise
                continue  # it may be restarting: the deadline is the run's
            if latest.status not in NOT_YET and latest.status not in REDIRECTS:
                return latest
            answer = replace(latest, location=latest.location or answer.location)
        return await asyncio.Future[_Answer]()

    async def _judge_report(self, claim: Claim, target: HttpTarget, report: Report) -> Outcome:
        outcome, when = report.outcome, target.success_when
        if outcome.status is RunStatus.SUCCESS and when is not None:
            unmet = await self._unmet(claim, when, 200, report.body)
            if unmet is not None:
                outcome = Outcome(RunStatus.FAILURE, "assertion", unmet, body=report.body)
        return replace(outcome, body=redacted(outcome.body, target.masked_values))

    async def _attempt(
        self, claim: Claim, target: HttpTarget, progress: _Progress, token: str | None = None
    ) -> _Answer:
        body = None if target.body is None else target.body.encode()
        key = claim.idempotency_key
        signature = await self._signer.headers_for(
            claim.tenant_id, key, self._clock.now(), body or b""
        )
        request = first_request(claim, target, key, body, signature, token)
        redirects_left = target.max_redirects
        while True:
            async with await self._send(request) as response:
                location = response.headers.get("Location")
                if not location or not redirects_left or response.status not in REDIRECTS:
                    return await self._read(response, progress, request)
            redirects_left -= 1
            request = redirected(request, response.status, location, target)

    async def _send(self, request: Request) -> ClientResponse:
        word = await self._guard.admit(request.location.host, request.location.port)
        made_connection.set(False)
        try:
            return await self._sending_to(word, request)
        except ClientConnectorError:
            raise
        except (ServerDisconnectedError, ClientOSError):
            # An idle connection may have been closed the moment we used it. Both requests have the
            # same idempotency key, so that a target that did get the first one can tell.
            if made_connection.get() or request.method in _SENT_AGAIN_BY_THE_LIBRARY:
                raise
        return await self._sending_to(word, request)

    def _sending_to(self, word: str, request: Request) -> Awaitable[ClientResponse]:
        return self._session.request(
            request.method,
            request.location.url.with_host(word),
            headers=request.headers,
            data=request.body,
            allow_redirects=False,
            # Also without TLS: connections are pooled by it, so that names do not share theirs.
            server_hostname=request.location.server_name,
        )

    async def _read(
        self, response: ClientResponse, progress: _Progress, request: Request
    ) -> _Answer:
        progress.status_code = response.status
        header = response.headers.get("Retry-After")
        wait = None if header is None else retry_after(header, self._clock.now())
        body, unreadable = RawBody(), None
        try:
            if response.status >= 200:  # below that, it is not the final answer
                body = await read_body(response)
        except UnreadableAnswer as error:
            unreadable = str(error)
        onward = (request, response.headers.get("Location"))
        return _Answer(response.status, body, unreadable, wait, *onward)

    async def _judge(self, claim: Claim, target: HttpTarget, answer: _Answer) -> Outcome:
        """Its time no longer counts as the target's."""
        if len(answer.body.raw) < LARGE:
            body = answer.body.parsed()
        else:
            # Large answers are parsed one at a time, with other tasks in between.
            async with self._turn:
                await asyncio.sleep(0)
                body = answer.body.parsed()
        status, statuses = answer.status, target.success_statuses
        if not (status in statuses if statuses else 200 <= status < 300):
            kind, message = "status", f"HTTP {status}"
        elif answer.unreadable is not None:
            kind, message = "protocol", answer.unreadable
        elif target.success_when is not None:
            message = await self._unmet(claim, target.success_when, status, body)
            kind = None if message is None else "assertion"
        else:
            kind, message = None, None
        body = redacted(body, target.masked_values)
        ended = RunStatus.SUCCESS if kind is None else RunStatus.FAILURE
        return Outcome(ended, kind, message, status, body, retry_after=answer.retry_after)

    async def _unmet(self, claim: Claim, success_when: str, status: int, body: Body) -> str | None:
        owner = Owner(claim.tenant_id, claim.job_id)
        question = Question(success_when, {"status": status, "body": body})
        (result,) = await self._expressions.evaluate(owner, [question])
        try:
            if yes_or_no(success_when, result):
                return None
            return f"success_when is not true of the answer: {success_when[:200]}"
        except InvalidInput as error:
            return f"success_when has no yes or no: {error.fix}"
