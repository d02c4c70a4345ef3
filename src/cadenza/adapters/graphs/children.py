"""What an executor needs of whoever forks: on this machine, or on a node of a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cadenza.adapters.graphs import link
from cadenza.domain.graph import ErrorCode, GraphRequest


@dataclass(frozen=True, slots=True)
class Exit:
    code: int | None  # None: whoever forked it was lost
    why: str | None = None  # the watchdog ended it, or it was never forked
    error: ErrorCode = ErrorCode.INTERNAL  # where there is no code


class Child(Protocol):
    async def ready(self) -> bool:
        """Forked, in a group of its own, and waiting; False where it ended instead."""
        ...

    def go(self, request: GraphRequest) -> None: ...

    async def read(self) -> link.Message | None:
        """The next frame; None when the child, or its channel, has ended."""
        ...

    def kill(self) -> None: ...

    async def end(self) -> Exit:
        """Gone, with all that it started; also one that only closed its channel."""
        ...

    def close(self) -> str:
        """Let go of it, and have the last lines that it printed."""
        ...


class Children(Protocol):
    @property
    def graphs(self) -> Mapping[str, str | None]: ...

    @property
    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """What graphs take, where they say so."""
        ...

    @property
    def isolation(self) -> str:
        """By what runs are held together, beside their sessions."""
        ...

    @property
    def ready_seconds(self) -> float:
        """How long a child may take until it is ready."""
        ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answers(self) -> bool: ...

    async def wait_until_up(self, seconds: float) -> None: ...

    def fork(self, run: str, request: GraphRequest) -> Child:
        """At once; `ready` says what became of it. Runs have names that are used once."""
        ...
