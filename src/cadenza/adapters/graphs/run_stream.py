"""One run, as its consumer reads it: everything happens while somebody reads.

So a consumer that is slow slows its graph down, and one that goes away ends it. Only the time limit
and the end of the process are seen by themselves.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.child_process import cause_of
from cadenza.adapters.graphs.children import Child, Children
from cadenza.adapters.graphs.translation import closing, go_frame, understood
from cadenza.application.ports.graphs import BeforeStart
from cadenza.domain.errors import InstallationError
from cadenza.domain.graph import ErrorCode, EventKind, GraphEvent, GraphRequest, GraphResult
from cadenza.domain.instants import humanize


class RunStream:
    def __init__(
        self,
        children: Children,
        request: GraphRequest,
        before_start: BeforeStart,
        on_end: Callable[["RunStream"], None],
    ) -> None:
        self.request = request
        self._children = children
        self._before_start = before_start
        self._on_end = on_end
        self._begun = False
        self._child: Child | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ending: GraphResult | None = None  # why we ended it
        self._result: GraphResult | None = None
        self._raised: Exception | None = None  # by before_start
        self._settled = asyncio.Event()
        self._count = 0

    async def events(self) -> AsyncIterator[GraphEvent]:
        if self._begun:
            raise RuntimeError("the events of a run are read once")
        self._begun = True
        consumer = asyncio.current_task()
        assert consumer is not None
        # One that is cancelled between two events does not come back to this generator.
        consumer.add_done_callback(self._let_go)
        try:
            await self._start()
            while self._result is None and self._raised is None:
                event = await self._next()
                if event is not None:
                    yield event
            self._let_go()
            if self._result is None:
                yield GraphEvent(EventKind.DONE)
            else:
                for event in closing(self._result):
                    yield event
        finally:
            consumer.remove_done_callback(self._let_go)
            self._let_go()

    async def final(self) -> GraphResult:
        if not self._begun:
            async for _ in self.events():
                pass
        await self._settled.wait()
        if self._raised is not None:
            raise self._raised
        assert self._result is not None
        return self._result

    async def cancel(self) -> None:
        self._end(ErrorCode.ABORTED, "cancelled")
        if self._child is not None:
            await self._child.end()

    def _end(self, code: ErrorCode, message: str) -> None:
        """Kill it; whoever reads sees the end of the channel."""
        if self._ending is None and self._result is None:
            self._ending = GraphResult(error=code, message=message)
            if self._child is not None:
                self._child.kill()

    async def _start(self) -> None:
        self._result = self._ending or self._refusal()
        if self._result is not None:
            return
        try:
            seconds = self._children.ready_seconds
            await self._children.wait_until_up(seconds)
            is_ready = await asyncio.wait_for(self._fork(), seconds)
        except (TimeoutError, InstallationError, OSError, link.Rubbish) as error:
            await self._fail(ErrorCode.INTERNAL, f"no process could be started for it: {error}")
            return
        if not is_ready:
            await self._fail_as_it_ended()
            return
        try:
            await self._before_start()
        except Exception as error:  # noqa: BLE001 — passed on by final()
            assert self._child is not None
            await self._child.end()
            self._raised = error
            return
        self._go()

    def _refusal(self) -> GraphResult | None:
        """Before anything starts."""
        graph_id, known = self.request.graph_id, self._children.graphs
        if graph_id not in known:
            names = ", ".join(sorted(known)[:20]) or "none"
            message = f"there is no graph {graph_id!r} here; known: {names}"
            return GraphResult(error=ErrorCode.NOT_FOUND, message=message)
        if (problem := known[graph_id]) is not None:
            message = f"the graph {graph_id!r} could not be loaded: {problem}"
            return GraphResult(error=ErrorCode.INTERNAL, message=message)
        try:
            size = len(go_frame(self.request))
        except (TypeError, ValueError) as error:
            message = f"the input is not JSON: {error}"
            return GraphResult(error=ErrorCode.INVALID_REQUEST, message=message)
        if size > link.MAX_FRAME:
            message = f"input, answer and state have {size} bytes; at most {link.MAX_FRAME}"
            return GraphResult(error=ErrorCode.INVALID_REQUEST, message=message)
        return None

    async def _fork(self) -> bool:
        run = f"{self.request.run_id}/{id(self)}"
        self._child = self._children.fork(run, self.request)
        if self._ending is not None:  # cancelled meanwhile
            self._child.kill()
        return await self._child.ready()

    def _go(self) -> None:
        assert self._child is not None
        if self._ending is not None:
            return  # cancelled meanwhile: it is dead, and has run nothing
        limit = self.request.limits.time
        message = f"not done within {humanize(limit)}; it was ended"
        self._timer = asyncio.get_running_loop().call_later(
            limit.total_seconds(), self._end, ErrorCode.TIMEOUT, message
        )
        self._child.go(self.request)

    async def _next(self) -> GraphEvent | None:
        """The next event; None where there is nothing to show, and perhaps a result."""
        assert self._child is not None
        try:
            message = await self._child.read()
            answer = None if message is None else understood(message)
        except link.Rubbish as error:
            await self._fail(ErrorCode.INTERNAL, f"the graph wrote rubbish to its channel: {error}")
            return None
        if answer is None:
            await self._fail_as_it_ended()
        elif isinstance(answer, GraphResult):
            await self._finish(answer)
        elif answer.kind is not EventKind.USAGE:  # the gateway counts; a child is not believed
            self._count += 1
            if self._count <= link.MAX_EVENTS:
                return answer
            await self._fail(ErrorCode.ABORTED, f"more than {link.MAX_EVENTS} events")
        return None

    async def _fail_as_it_ended(self) -> None:
        assert self._child is not None
        code, message = cause_of(await self._child.end())
        await self._finish(self._ending or GraphResult(error=code, message=message))

    async def _fail(self, code: ErrorCode, message: str) -> None:
        await self._finish(GraphResult(error=code, message=message))

    async def _finish(self, result: GraphResult) -> None:
        """The process, and all that it started, is gone before the result is told."""
        if self._timer is not None:
            self._timer.cancel()
        if self._child is not None:
            await self._child.end()
            result = replace(result, last_lines=self._child.close())
        self._result = result

    def _let_go(self, *_: object) -> None:
        """Read to its end, or nobody reads any more."""
        if self._timer is not None:
            self._timer.cancel()
        lines = ""
        if self._child is not None:
            self._child.kill()
            lines = self._child.close()
        if self._result is None and self._raised is None:
            unread = GraphResult(
                error=ErrorCode.ABORTED, message="nobody reads its events any more"
            )
            self._result = replace(self._ending or unread, last_lines=lines)
        self._settled.set()
        self._on_end(self)
