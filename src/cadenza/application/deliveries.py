"""The outbox of notifications: claimed under a lease, sent, settled under the lease's epoch."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, FinishReport, Renewal
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.notifications import ChannelSender, SettledDelivery
from cadenza.application.ports.store import Channel, Store
from cadenza.application.ports.telemetry import NO_TELEMETRY, Telemetry
from cadenza.application.worker import Worker
from cadenza.domain.delivery import (
    MAX_ERROR,
    Attempt,
    DeliveryClaim,
    DeliveryStatus,
    FinishedDelivery,
    retry_at,
)
from cadenza.domain.incident import Severity
from cadenza.domain.message import Message
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, RunStatus
from cadenza.domain.target import HttpTarget, Secret

WEBHOOK_TIMEOUT = timedelta(seconds=15)
GONE = 410  # a receiver that wants no more

_OUTCOMES = {
    DeliveryStatus.WAITING: "retried",
    DeliveryStatus.DELIVERED: "delivered",
    DeliveryStatus.FAILED: "failed",
}
Notifier = Worker[DeliveryClaim, FinishedDelivery]


class ClaimedDeliveries:
    def __init__(self, store: Store, telemetry: Telemetry = NO_TELEMETRY) -> None:
        self._store = store
        self._telemetry = telemetry

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[DeliveryClaim]:
        async with self._store.transaction() as tx:
            return await tx.claim_deliveries(request)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[DeliveryClaim]:  # noqa: ARG002
        """Nothing to do: deliveries of a lost notifier are due again when their lease ends."""
        return []

    async def renew(self, claims: Sequence[DeliveryClaim], lease: timedelta) -> Renewal:
        async with self._store.transaction() as tx:
            return Renewal(await tx.renew_deliveries(claims, lease))

    async def finish(self, finished: Sequence[FinishedDelivery]) -> FinishReport:
        async with self._store.transaction() as tx:
            now = await tx.time()
            settled = [_settled(delivery, now) for delivery in finished]
            stored = await tx.settle_deliveries(settled)
        self._telemetry.delivered(
            (delivery.claim.delivery.kind, _OUTCOMES[delivery.status])
            for delivery in settled
            if delivery.claim.run_id in stored
        )
        late = frozenset(delivery.claim.run_id for delivery in finished) - stored
        again = [
            delivery.due_at for delivery in settled if delivery.status is DeliveryStatus.WAITING
        ]
        return FinishReport(late, min(again, default=None))

    async def give_back(self, claims: Sequence[DeliveryClaim]) -> None:
        async with self._store.transaction() as tx:
            await tx.free_deliveries(claims)
            await tx.notify(Channel.DELIVERIES)


def _settled(finished: FinishedDelivery, now: datetime) -> SettledDelivery:
    delivery, error = finished.claim.delivery, finished.result.error
    result = finished.result if error is None else replace(finished.result, error=error[:MAX_ERROR])
    if error is None:
        return SettledDelivery(finished.claim, result, DeliveryStatus.DELIVERED, delivery.due_at)
    again_at = retry_at(delivery, result, now)
    if again_at is None:
        return SettledDelivery(finished.claim, result, DeliveryStatus.FAILED, delivery.due_at)
    return SettledDelivery(finished.claim, result, DeliveryStatus.WAITING, again_at)


class Sending:
    """The work of a notifier: sends one delivery."""

    def __init__(self, channels: ChannelSender, webhooks: Dispatcher) -> None:
        self._channels = channels
        self._webhooks = webhooks

    async def execute(self, claim: DeliveryClaim, started_at: datetime) -> FinishedDelivery:
        if claim.unreadable is not None:
            return FinishedDelivery(claim, Attempt(claim.unreadable))
        if claim.delivery.channel_id is not None:
            result = await self._channels.send(Secret(claim.url), _message(claim))
        else:
            result = await self._post(claim, started_at)
        return FinishedDelivery(claim, result)

    async def _post(self, claim: DeliveryClaim, started_at: datetime) -> Attempt:
        """Sent and signed by the guarded dispatcher, with the same id in every attempt."""
        outcome = await self._webhooks.dispatch(webhook_claim(claim, started_at))
        if outcome.status is RunStatus.SUCCESS:
            return Attempt(status_code=outcome.status_code)
        error = outcome.error_message or outcome.error_kind or outcome.status
        return Attempt(error, outcome.status_code, is_final=outcome.status_code == GONE)

    def lost(self, claim: DeliveryClaim) -> FinishedDelivery:
        return FinishedDelivery(claim, Attempt("the notifier was lost"))

    def stopped(self, claim: DeliveryClaim, started_at: datetime) -> FinishedDelivery:  # noqa: ARG002
        return FinishedDelivery(claim, Attempt("the notifier was stopped meanwhile"))

    def broken(
        self,
        claim: DeliveryClaim,
        started_at: datetime,  # noqa: ARG002
        error: str,  # noqa: ARG002
    ) -> FinishedDelivery:
        # Not what it says: the URL of a channel is a secret, and may be in it.
        return FinishedDelivery(claim, Attempt("it could not be sent: an internal error"))

    def unfit(self, finished: FinishedDelivery, why: str) -> FinishedDelivery:
        return replace(finished, result=Attempt(why))


def webhook_claim(claim: DeliveryClaim, now: datetime) -> Claim:
    """The delivery as a claim for the dispatcher. `webhook-id` is the same in every attempt."""
    delivery = claim.delivery
    body = json.dumps({"id": str(delivery.id), **delivery.payload})
    target = HttpTarget(claim.url, method="POST", body=body, timeout=WEBHOOK_TIMEOUT)
    return Claim(
        run_id=delivery.id,
        endpoint_id=delivery.id,
        tenant_id=delivery.tenant_id,
        job_id=claim.subject_id,
        endpoint_name=claim.name,
        target=target,
        slot_at=delivery.created_at,
        source=Source.MANUAL,
        epoch=claim.epoch,
        first_claimed_at=now,
        attempt=claim.attempt,
    )


def _message(claim: DeliveryClaim) -> Message:
    payload = claim.delivery.payload
    return Message(payload["title"], payload["body"], Severity(payload["severity"]))
