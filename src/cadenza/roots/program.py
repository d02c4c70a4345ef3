"""How every program that goes on until it is stopped begins."""

import asyncio
import gc
import os
from collections.abc import Callable, Coroutine
from typing import Any

import uvloop

from cadenza.roots.database import database_url
from cadenza.roots.logging import set_up_logs
from cadenza.roots.settings import Settings, read_settings
from cadenza.up.parent import end_with_parent


def start_program() -> Settings:
    settings = read_settings()
    set_up_logs(as_json=settings.log_json)
    end_with_parent(os.environ)
    return settings


def run_program(settings: Settings, program: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    """With the address of its database."""
    with (
        database_url(settings) as url,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(program(url))


def collect_less_often() -> None:
    """At thousands of runs a second, looking for cycles took a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
