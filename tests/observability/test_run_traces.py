"""Ends of traces that are not those of a good run."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from cadenza.adapters.telemetry.opentelemetry import OpenTelemetryTracer
from cadenza.application.ports.events import Event
from cadenza.application.ports.tracing import present_traceparent
from cadenza.application.tracing import RunTraces, TracedDispatcher, TracedEvents
from cadenza.domain.run import Claim, FinishedRun, Outcome
from tests.factories import NOON, OK, make_claim, make_endpoint
from tests.observability.support import Receiver, receiving


class Silence:
    def wants(self, kind: str) -> bool:
        return False

    def emit(self, event: Event) -> None:
        raise AssertionError(event)


class Answers:
    def __init__(self) -> None:
        self.sent: list[str | None] = []

    async def dispatch(self, claim: Claim) -> Outcome:
        del claim
        self.sent.append(present_traceparent.get())
        return OK


class Watched:
    def __init__(self, receiver: Receiver, ratio: float = 1.0) -> None:
        self.receiver = receiver
        self.tracer = OpenTelemetryTracer("test", "1.0", ratio, receiver.url)
        self.traces = RunTraces(self.tracer)

    def spans(self, run_id: UUID) -> dict[str, Span]:
        self.tracer.close()
        return self.receiver.of(run_id)


@pytest.fixture
def watched() -> Iterator[Watched]:
    with receiving() as receiver:
        yield Watched(receiver)


CLAIM = make_claim(make_endpoint("queue"))


def test_a_run_whose_lease_is_lost_ends_as_an_error(watched: Watched) -> None:
    watched.traces.begin([CLAIM], watched.tracer.moment())
    events = TracedEvents(Silence(), watched.traces)
    assert events.wants("run.lease_lost")
    assert not events.wants("run.finished")
    ids = (CLAIM.tenant_id, CLAIM.endpoint_id, CLAIM.endpoint_name)
    events.emit(Event(NOON, "run.lease_lost", *ids, {"run_id": str(CLAIM.run_id)}))
    assert not watched.traces
    root = watched.spans(CLAIM.run_id)["run"]
    assert (root.status.code, root.status.message) == (Status.STATUS_CODE_ERROR, "lease lost")


def test_a_result_that_was_fenced_says_so(watched: Watched) -> None:
    watched.traces.begin([CLAIM], watched.tracer.moment())
    finished = FinishedRun(CLAIM, OK, NOON, NOON)
    watched.traces.store([finished], frozenset([CLAIM.run_id]), watched.tracer.moment())
    root = watched.spans(CLAIM.run_id)["run"]
    assert root.status.message == "fenced: its lease was lost"


def test_a_run_that_is_claimed_again_has_both_attempts_in_one_trace(watched: Watched) -> None:
    watched.traces.begin([CLAIM], watched.tracer.moment())
    second = replace(CLAIM, epoch=2, attempt=2)
    watched.traces.begin([second], watched.tracer.moment())
    watched.traces.store([FinishedRun(CLAIM, OK, NOON, NOON)], frozenset(), 0)  # of the first: old
    assert watched.traces
    watched.traces.store([FinishedRun(second, OK, NOON, NOON)], frozenset(), 0)
    assert not watched.traces
    watched.tracer.close()
    roots = [span for span in watched.receiver.spans if span.name == "run"]
    assert {root.trace_id for root in roots} == {CLAIM.run_id.bytes}
    assert [root.status.message for root in roots] == ["claimed again", ""]


async def test_what_is_not_sampled_is_dispatched_as_ever_and_sends_nothing() -> None:
    answers = Answers()
    with receiving() as receiver:
        watched = Watched(receiver, ratio=0.0)
        watched.traces.begin([CLAIM], watched.tracer.moment())
        assert not watched.traces
        assert await TracedDispatcher(answers, watched.traces).dispatch(CLAIM) is OK
        assert watched.spans(CLAIM.run_id) == {}
    assert answers.sent == [None]


async def test_the_trace_is_present_during_the_dispatch_and_not_after_it(watched: Watched) -> None:
    answers = Answers()
    watched.traces.begin([CLAIM], watched.tracer.moment())
    await TracedDispatcher(answers, watched.traces).dispatch(CLAIM)
    assert present_traceparent.get() is None
    (sent,) = answers.sent
    assert sent is not None
    assert sent.split("-")[1] == CLAIM.run_id.hex
    watched.tracer.close()


@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 1.0])
def test_the_share_that_is_sampled_is_the_ratio(ratio: float) -> None:
    from cadenza.adapters.system.ids import new_id

    tracer = OpenTelemetryTracer("test", "1.0", ratio, "http://127.0.0.1:1/v1/traces")
    ids = [new_id() for _ in range(20_000)]
    sampled = sum(map(tracer.samples, ids))
    assert abs(sampled / len(ids) - ratio) < 0.015  # twelve deviations at a half
    assert [tracer.samples(run_id) for run_id in ids[:50]] == [*map(tracer.samples, ids[:50])]
    tracer.close()
