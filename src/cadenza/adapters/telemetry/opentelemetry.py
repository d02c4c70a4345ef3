"""Traces by OpenTelemetry, sent over OTLP/HTTP from a thread of their own.

Whether a trace is sampled is decided before there is a span, from the last 56 bits of its id, which
are chance in ours: what is not sampled costs one comparison. A span that is sampled is a few fields
until it ends, and is given to the library as a whole: its own spans, with locks and a sampler to
ask, take several times as long.
"""

import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from uuid import UUID

from opentelemetry import trace as api
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from cadenza.application.ports.tracing import Attributes, Span, present_traceparent

CHANCE = 2**56
MOST_WAITING = 4_096  # spans; more are dropped, for a program must not wait for who watches it
SEND_SECONDS = 5
ROOT = api.set_span_in_context(api.INVALID_SPAN)
# Sampled, and the last 56 bits of the trace id are chance.
FLAGS = api.TraceFlags(0b11)
OK = Status(StatusCode.UNSET)


class OwnResource(Resource):
    """The program. The library asks for the hash with every span, and would write it as JSON."""

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class OpenTelemetrySpan:
    __slots__ = ("_attributes", "_began", "_kind", "_links", "_name", "_parent", "_tracer", "own")

    def __init__(
        self,
        tracer: "OpenTelemetryTracer",
        name: str,
        own: SpanContext,
        parent: SpanContext | None,
        attributes: Attributes,
        began: int | None,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        self._tracer: OpenTelemetryTracer | None = tracer  # None when it has ended
        self._name = name
        self.own = own
        self._parent = parent
        self._attributes = dict(attributes)
        self._began = time.time_ns() if began is None else began
        self._kind = kind
        self._links: list[Link] = []

    @property
    def traceparent(self) -> str:
        own = self.own
        return f"00-{own.trace_id:032x}-{own.span_id:016x}-{own.trace_flags:02x}"

    @contextmanager
    def active(self) -> Generator[None]:
        token = present_traceparent.set(self.traceparent)
        try:
            with api.use_span(NonRecordingSpan(self.own)):
                yield
        finally:
            present_traceparent.reset(token)

    def link(self, other: Span) -> None:
        assert isinstance(other, OpenTelemetrySpan)
        self._links.append(Link(other.own))

    def end(self, attributes: Attributes | None = None, error: str | None = None) -> None:
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        if attributes:
            self._attributes.update(attributes)
        tracer.send(
            ReadableSpan(
                self._name,
                context=self.own,
                parent=self._parent,
                resource=tracer.resource,
                attributes=self._attributes,
                links=self._links,
                kind=self._kind,
                status=OK if error is None else Status(StatusCode.ERROR, error),
                start_time=self._began,
                end_time=max(self._began, time.time_ns()),
                instrumentation_scope=tracer.scope,
            )
        )


class OpenTelemetryTracer:
    def __init__(
        self,
        program: str,
        version: str,
        ratio: float,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Without a url, the variables that OpenTelemetry defines say where traces are sent."""
        self._below = round(ratio * CHANCE)
        self._ids = RandomIdGenerator()
        self.resource = _resource(program, version)
        self.scope = InstrumentationScope("cadenza", version)
        exporter = OTLPSpanExporter(endpoint=url, headers=headers, timeout=SEND_SECONDS)
        self._processor = BatchSpanProcessor(exporter, MOST_WAITING)
        self.send = self._processor.on_end
        self._propagator = TraceContextTextMapPropagator()

    def samples(self, trace_id: UUID) -> bool:
        return trace_id.int % CHANCE < self._below

    def moment(self) -> int:
        return time.time_ns()

    def trace(
        self, name: str, trace_id: UUID, attributes: Attributes, began: int | None = None
    ) -> OpenTelemetrySpan:
        return OpenTelemetrySpan(self, name, self._new(trace_id.int), None, attributes, began)

    def span(
        self, name: str, parent: Span, attributes: Attributes, began: int | None = None
    ) -> OpenTelemetrySpan:
        assert isinstance(parent, OpenTelemetrySpan)
        kind = SpanKind.CLIENT if name == "dispatch" else SpanKind.INTERNAL
        own = self._new(parent.own.trace_id)
        return OpenTelemetrySpan(self, name, own, parent.own, attributes, began, kind)

    def batch(
        self, name: str, attributes: Attributes, began: int | None = None
    ) -> OpenTelemetrySpan:
        own = self._new(self._ids.generate_trace_id())
        return OpenTelemetrySpan(self, name, own, None, attributes, began)

    def request(
        self, name: str, traceparent: str | None, attributes: Attributes
    ) -> OpenTelemetrySpan | None:
        sender = None
        if traceparent is not None:
            context = self._propagator.extract({"traceparent": traceparent}, ROOT)
            sender = api.get_current_span(context).get_span_context()
        if sender is not None and sender.is_valid and sender.trace_flags.sampled:
            own, parent = self._new(sender.trace_id), sender
        else:
            trace_id, parent = self._ids.generate_trace_id(), None
            if trace_id % CHANCE >= self._below:
                return None
            own = self._new(trace_id)
        return OpenTelemetrySpan(self, name, own, parent, attributes, None, SpanKind.SERVER)

    def _new(self, trace_id: int) -> SpanContext:
        return SpanContext(
            trace_id, self._ids.generate_span_id(), is_remote=False, trace_flags=FLAGS
        )

    def close(self) -> None:
        """Send what is left; it waits for the receiver, within a limit."""
        self._processor.shutdown()


def _resource(program: str, version: str) -> Resource:
    own = {
        "service.name": f"cadenza-{program}",
        "service.version": version,
        "process.pid": os.getpid(),
    }
    made = Resource.create(own)
    return OwnResource(made.attributes, made.schema_url)
