"""One slot as one message: it counts as sent when the broker has confirmed it."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta

from cadenza.adapters.messaging.connections import Connections
from cadenza.adapters.messaging.failures import failure
from cadenza.adapters.messaging.replies import Replies
from cadenza.application.ports.awaited_results import Results
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.messages import Message
from cadenza.application.ports.signing_keys import Signer
from cadenza.domain.instants import humanize, iso
from cadenza.domain.queue_target import Broker, QueueTarget, broker_address
from cadenza.domain.redaction import redacted
from cadenza.domain.run import Claim, Outcome, RunStatus

PUBLISH_WITHIN = timedelta(seconds=30)  # also of a run that waits for its result for hours
_JSON, _TEXT = "application/json", "text/plain; charset=utf-8"


class QueueDispatcher:
    def __init__(
        self,
        connections: Connections,
        signer: Signer,
        clock: Clock,
        results: Results | None = None,  # None: no run waits, as for test calls
        replies: Replies | None = None,
    ) -> None:
        self._connections = connections
        self._signer = signer
        self._clock = clock
        self._results = results
        self._replies = replies

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, QueueTarget)
        try:
            if target.waits and self._results is not None:
                outcome = await self._until_result(claim, target, self._results)
            else:
                confirmed = await self._publish(claim, target)
                outcome = Outcome(RunStatus.SUCCESS, body={"message_id": confirmed})
        except TimeoutError:
            message = f"the broker did not confirm the message within {humanize(_patience(target))}"
            outcome = Outcome(RunStatus.TIMEOUT, "timeout", message)
        except Exception as error:  # noqa: BLE001 - what goes wrong is an outcome
            outcome = failure(error)
        if target.password is None:
            return outcome
        message = redacted(outcome.error_message or "", [target.password]) or None
        body = redacted(outcome.body, [target.password])
        return replace(outcome, error_message=message, body=body)

    async def _until_result(self, claim: Claim, target: QueueTarget, results: Results) -> Outcome:
        ends = asyncio.get_running_loop().time() + target.timeout.total_seconds()
        token, report = await results.expect(claim)
        if report is not None:  # to an earlier attempt, whose worker was lost
            return report.outcome
        async with self._heard(claim, target):
            await self._publish(claim, target, token)
            try:
                async with asyncio.timeout_at(ends):
                    report = await results.wait(claim.run_id)
            except TimeoutError:
                report = await results.close(claim.run_id)
        if report is not None:
            return report.outcome
        message = f"the message was taken, but no result came within {humanize(target.timeout)}"
        return Outcome(RunStatus.TIMEOUT, "no_result", message)

    def _heard(self, claim: Claim, target: QueueTarget) -> AbstractAsyncContextManager[None]:
        if self._replies is None:
            return nullcontext()
        return self._replies.heard(claim.tenant_id, target)

    async def _publish(self, claim: Claim, target: QueueTarget, token: str | None = None) -> str:
        async with asyncio.timeout(_patience(target).total_seconds()):
            message = await self._message(claim, target, token)
            return await self._connections.publish(claim.tenant_id, target, message)

    async def _message(self, claim: Claim, target: QueueTarget, token: str | None) -> Message:
        key, body = claim.idempotency_key, (target.body or "").encode()
        now = self._clock.now()
        headers = {
            **target.headers,
            "Idempotency-Key": key,
            "Cadenza-Attempt": str(claim.attempt),
            "Cadenza-Slot": iso(claim.slot_at),
            **await self._signer.headers_for(claim.tenant_id, key, now, body),
        }
        if body and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = _JSON if body.lstrip()[:1] in (b"{", b"[") else _TEXT
        if token is not None:
            headers |= {"Cadenza-Run-Id": str(claim.run_id), "Cadenza-Result-Token": token}
        if token is not None and target.reply_to is not None:
            headers["Cadenza-Reply-To"] = target.reply_to
        if broker_address(target.url).broker is Broker.REDIS:
            headers = {name.lower(): value for name, value in headers.items()}
        group = str(claim.endpoint_id)
        return Message(target.topic, target.exchange, key, group, headers, body)


def _patience(target: QueueTarget) -> timedelta:
    return min(target.timeout, PUBLISH_WITHIN)
