"""Who runs graphs. Schedules and endpoints own the timing, and run nothing themselves."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Protocol
from uuid import UUID

from cadenza.domain.graph import GraphEvent, GraphRequest, GraphResult

# Called when the child is forked and ready, before any of the user's code runs for this request.
# Where it raises, the child is ended and the error passes on; when it returns, the graph begins.
BeforeStart = Callable[[], Awaitable[None]]


class GraphStream(Protocol):
    def events(self) -> AsyncIterator[GraphEvent]:
        """As they come; `done` exactly once, and last. To be read once, to its end."""
        ...

    async def final(self) -> GraphResult:
        """How it ended; an error is a result. Only what `before_start` raised is raised here."""
        ...


class GraphExecutor(Protocol):
    def run_graph(self, request: GraphRequest, before_start: BeforeStart) -> GraphStream: ...

    async def cancel(self, run_id: UUID) -> None:
        """End it now: its result is `aborted`. Nothing where it is not running here."""
        ...

    def graphs(self) -> Mapping[str, str | None]:
        """Every graph id that is known here, with what is wrong with it, if anything is."""
        ...

    def input_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """By graph id, JSON Schema of its input; only of those that say it."""
        ...
