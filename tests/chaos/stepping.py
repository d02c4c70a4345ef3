"""Workers that can die or freeze between any two steps of any of their tasks.

Every task that a worker starts runs inside a wrapper that counts its steps: a step is what happens
between two awaits. A worker that dies takes no step any more, not even one that cleans up; one that
is frozen takes the next when it is thawed, and learns only then what happened meanwhile.
"""

import asyncio
import warnings
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, ContextVar
from typing import Any

_NODE: ContextVar["Node | None"] = ContextVar("node", default=None)


class Node:
    """One worker's process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps = 0
        self.crash_at: int | None = None
        self.dead = False
        self.on_death: list[Callable[[], None]] = []
        self._thawed: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._left: list[Coroutine[Any, Any, Any]] = []

    def run(self, main: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        context = Context()
        context.run(_NODE.set, self)
        return asyncio.get_running_loop().create_task(main, context=context)

    def die(self) -> None:
        if self.dead:
            return
        self.dead = True
        self.thaw()
        for task in self._tasks:
            task.cancel()
        for dies in self.on_death:
            dies()

    def freeze(self) -> None:
        self._thawed = self._thawed or asyncio.Event()

    def thaw(self) -> None:
        if self._thawed is not None:
            self._thawed.set()
            self._thawed = None

    @property
    def frozen(self) -> bool:
        return self._thawed is not None

    def until_thawed(self) -> asyncio.Future[Any]:
        """As a coroutine would yield it to its task."""
        assert self._thawed is not None
        waiting = asyncio.get_running_loop().create_task(self._thawed.wait(), context=Context())
        waiting._asyncio_future_blocking = True  # type: ignore[attr-defined]
        return waiting

    def started(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def leave(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._left.append(coroutine)

    def bury(self) -> None:
        """After its life, when nothing that its coroutines do at their end reaches anybody."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some never began
            for coroutine in self._left:
                with suppress(BaseException):
                    coroutine.close()
            self._left.clear()


class Stepped(Coroutine[Any, Any, Any]):
    def __init__(self, coroutine: Coroutine[Any, Any, Any], node: Node) -> None:
        self._coroutine = coroutine
        self._node = node
        self._missed: BaseException | None = None  # what it was thrown while frozen

    def send(self, value: Any) -> Any:
        node = self._node
        self._may_step()
        if node.frozen:
            return node.until_thawed()
        if self._missed is not None:
            missed, self._missed = self._missed, None
            return self._coroutine.throw(missed)
        return self._coroutine.send(value)

    def throw(self, error: Any, *about: Any) -> Any:
        self._may_step()
        if self._node.frozen:
            self._missed = error if isinstance(error, BaseException) else error()
            return self._node.until_thawed()
        return self._coroutine.throw(error, *about)

    def _may_step(self) -> None:
        node = self._node
        if not node.dead and not node.frozen:
            node.steps += 1
            if node.steps == node.crash_at:
                node.die()
        if node.dead:
            node.leave(self._coroutine)
            raise asyncio.CancelledError

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError("it is only ever the coroutine of a task")


def step_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """From now on the tasks of nodes are stepped; all others are as ever."""

    def new_task(
        loop: asyncio.AbstractEventLoop, coroutine: Any, context: Context | None = None
    ) -> asyncio.Task[Any]:
        node = _NODE.get() if context is None else context.get(_NODE, None)
        if node is None:
            return asyncio.Task(coroutine, loop=loop, context=context)
        task = asyncio.Task(Stepped(coroutine, node), loop=loop, context=context)
        node.started(task)
        return task

    loop.set_task_factory(new_task)
