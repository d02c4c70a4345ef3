"""Traces: spans from claim to finish, for the few runs that are sampled.

The trace id of a run is its run id, and that of a session its session id: who has one has the
other, a second attempt at another worker is in the same trace, and nothing has to be stored.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Protocol
from uuid import UUID

Attributes = Mapping[str, str | int | float | bool]

# What a target is sent, as W3C Trace Context writes it; None where nothing is traced.
present_traceparent: ContextVar[str | None] = ContextVar("cadenza_traceparent", default=None)


class Span(Protocol):
    def active(self) -> AbstractContextManager[None]:
        """Whatever is called within belongs to it, and is sent its `traceparent`."""
        ...

    def link(self, other: "Span") -> None: ...

    def end(self, attributes: Attributes | None = None, error: str | None = None) -> None:
        """Once; what comes after is ignored."""
        ...


class Tracer(Protocol):
    def samples(self, trace_id: UUID) -> bool:
        """The same answer for the same id, in every program with the same ratio."""
        ...

    def moment(self) -> int:
        """Now, as `began` of a span that is made later."""
        ...

    def trace(
        self, name: str, trace_id: UUID, attributes: Attributes, began: int | None = None
    ) -> Span:
        """The first span of a trace."""
        ...

    def span(
        self, name: str, parent: Span, attributes: Attributes, began: int | None = None
    ) -> Span: ...

    def batch(self, name: str, attributes: Attributes, began: int | None = None) -> Span:
        """Of many runs together: in a trace of its own, which theirs link to."""
        ...

    def request(self, name: str, traceparent: str | None, attributes: Attributes) -> Span | None:
        """To us: continued where its sender samples it; None where it is not sampled."""
        ...
