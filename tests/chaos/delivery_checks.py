"""What must hold of requests: doubled only for a reason, never two at once, under one's own key."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from cadenza.domain.run import RunStatus
from tests.chaos.history import MACHINE, UNAWARE, Delivery, Fault, History, grouped, slot_of
from tests.chaos.violation import Violation

SLACK = 0.05  # seconds by which receivers may see an end later than the sender did


@dataclass(frozen=True, slots=True)
class Doubled:
    explained: int = 0
    unexplained: tuple[Violation, ...] = ()


def doubled(history: History) -> Doubled:
    """A doubled delivery shares its key, and was in flight during a logged fault."""
    explained, unexplained = 0, list[Violation]()
    faults = [fault for fault in history.faults if _loses_leases(fault, history)]
    for key, deliveries in history.index.by_key.items():
        for first, second in pairwise(deliveries):
            if during(faults, first.began, second.began):
                explained += 1
            else:
                at, text = second.began_at, f"{key} after {second.began - first.began:.3f} s"
                unexplained.append(Violation("doubled", second.endpoint_id, at, text))
    return Doubled(explained, tuple(unexplained))


def _loses_leases(fault: Fault, history: History) -> bool:
    """A machine that stands still for less than what leases are renewed in loses nobody one."""
    return fault.kind != MACHINE or fault.ended - fault.began > history.lease.total_seconds() / 3


def doubled_unexplained(history: History) -> Iterator[Violation]:
    yield from doubled(history).unexplained


def during(faults: Sequence[Fault], began: float, ended: float, *kinds: str) -> bool:
    return any(
        fault.began <= ended and began <= fault.ended and (not kinds or fault.sort in kinds)
        for fault in faults
    )


def unknown_keys(history: History) -> Iterator[Violation]:
    """Every delivery bears the key of a slot that has a row. Attempts count up, none twice."""
    rows = {(run.endpoint_id, run.slot_at) for run in history.runs}
    for delivery in history.deliveries:
        if (delivery.endpoint_id, slot_of(delivery.key)) not in rows:
            at, text = delivery.began_at, f"no run has the key {delivery.key}"
            yield Violation("unknown_key", delivery.endpoint_id, at, text)
    for key, deliveries in history.index.by_key.items():
        for attempt, count in Counter(each.attempt for each in deliveries).items():
            if count > 1:
                first = deliveries[0]
                text = f"attempt {attempt} of {key} came {count} times"
                yield Violation("doubled_attempt", first.endpoint_id, first.began_at, text)


def overlaps(history: History) -> Iterator[Violation]:
    """No two requests of an endpoint at once, except beside that of a worker which cannot know."""
    for endpoint_id, deliveries in history.index.deliveries.items():
        for first, second in pairwise(_by_passing(deliveries)):
            overlap = first.ended - second.began
            unaware = during(history.faults, first.began, second.began, *UNAWARE)
            if overlap > SLACK and not unaware:
                at, text = second.began_at, f"{first.key} and {second.key} for {overlap:.3f} s"
                yield Violation("overlap", endpoint_id, at, text)


def _by_passing(deliveries: Sequence[Delivery]) -> list[Delivery]:
    return sorted(deliveries, key=lambda delivery: delivery.began)


def stale_writes(history: History) -> Iterator[Violation]:
    """The result that counts is that of the last attempt: no write after a higher epoch."""
    for run in history.runs:
        number = run.body.get("delivery") if isinstance(run.body, dict) else None
        seen = history.index.by_number.get(number) if number is not None else None
        if seen is None:
            continue
        if seen.key.partition(":")[0] != str(run.endpoint_id):
            text = f"its body came from {seen.key}"
            yield Violation("foreign_result", run.endpoint_id, run.slot_at, text)
        elif seen.attempt != run.attempt:
            text = f"attempt {run.attempt} was closed with the result of attempt {seen.attempt}"
            yield Violation("stale_write", run.endpoint_id, run.slot_at, text)


def unreported(history: History) -> Iterator[Violation]:
    """What says that it succeeded was sent; the receiver must know of it."""
    for run in history.runs:
        spec = history.specs.get(run.endpoint_id)
        if spec is None or not spec.plain or run.status is not RunStatus.SUCCESS:
            continue
        if not isinstance(run.body, dict) or run.body.get("delivery") is None:
            text = "it succeeded with a body that no receiver wrote"
            yield Violation("unreported", run.endpoint_id, run.slot_at, text)


def crossed_tenants(history: History) -> Iterator[Violation]:
    """No row and no signature of another tenant."""
    for row in history.owned_rows:
        spec = history.specs.get(row.endpoint_id)
        if spec is not None and spec.tenant_id != row.tenant_id:
            text = f"a row of {row.table} of tenant {row.tenant_id}"
            yield Violation("crossed_tenant", row.endpoint_id, spec.since, text)
    for delivery in history.deliveries:
        spec = history.specs.get(delivery.endpoint_id)
        if spec is not None and delivery.signed_by not in (None, spec.tenant_id):
            text = f"signed for {delivery.signed_by}"
            yield Violation("crossed_tenant", delivery.endpoint_id, delivery.began_at, text)


def graphs_twice(history: History) -> Iterator[Violation]:
    """A graph's slot is started at most once, and charged at most once."""
    for key, starts in grouped(history.graph_starts, lambda start: start.key).items():
        if len(starts) > 1:
            text = f"{key} was started {len(starts)} times"
            yield Violation("graph_twice", _endpoint_of(history, key), starts[1].at, text)
    for (key, unit), charges in grouped(
        history.charges, lambda each: (each.key, each.unit)
    ).items():
        if len(charges) > 1:
            text = f"{key} was charged {len(charges)} times for {unit}"
            at = history.began_at
            yield Violation("charged_twice", _endpoint_of(history, key), at, text)


def charged_for_nothing(history: History) -> Iterator[Violation]:
    """Nobody pays for a call that no provider saw."""
    asked = Counter(history.model_calls)
    for key, charges in grouped(history.charges, lambda charge: charge.key).items():
        if len(charges) > asked[key]:
            text = f"{len(charges)} charges for {asked[key]} calls of {key}"
            at = history.began_at
            yield Violation("charged_for_nothing", _endpoint_of(history, key), at, text)


def _endpoint_of(history: History, key: str) -> UUID:
    return next(spec.endpoint_id for spec in history.specs.values() if str(spec.endpoint_id) in key)
