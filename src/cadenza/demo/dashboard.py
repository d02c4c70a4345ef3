"""The demo's dashboard, as the story sees it; `roots/demo.py` opens one."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from cadenza.demo.stage import Stage


@dataclass(frozen=True, slots=True)
class Dashboard:
    link: str  # signs in, once and within a minute, and goes on to the score
    was_opened: Callable[[], bool]


OpenDashboard = Callable[[Stage], AbstractAsyncContextManager[Dashboard]]
