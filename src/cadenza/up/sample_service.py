"""A small service to try things on: a shop's queue whose depth rises and falls, and a provider of
models that needs no key."""

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web

from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.listening import HOST, is_free, served_app

QUEUE_MAX = 500
PERIOD = 600.0  # seconds from one peak to the next


def queue_depth(at: float) -> int:
    """From nearly nothing to nearly full and back, every ten minutes."""
    return round(QUEUE_MAX * (0.5 - 0.45 * math.cos(2 * math.pi * at / PERIOD)))


async def _answer(_request: web.Request) -> web.Response:
    depth = queue_depth(wall_clock().timestamp())
    body = {"queue_depth": depth, "queue_max": QUEUE_MAX, "orders_per_minute": 40 + depth // 5}
    return web.json_response(body)


@asynccontextmanager
async def sample_service(port: int, models: web.Application) -> AsyncGenerator[str]:
    """Its address; on another port where that one is taken."""
    app = web.Application()
    app.router.add_get("/queue", _answer)
    app.add_subapp("/models", models)
    async with served_app(app, port if is_free(HOST, port) else 0) as address:
        yield f"{address}/queue"
