"""A small service to try things on: a shop's queue whose depth rises and falls, and a provider of
models that needs no key."""

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.listening import HOST, free_port, is_free, served_app

USUAL_PORT = 8081
QUEUE_MAX = 500
PERIOD = 600.0  # seconds from one peak to the next


def queue_depth(at: float) -> int:
    """From nearly nothing to nearly full and back, every ten minutes."""
    return round(QUEUE_MAX * (0.5 - 0.45 * math.cos(2 * math.pi * at / PERIOD)))


async def _answer(_request: web.Request) -> web.Response:
    depth = queue_depth(wall_clock().timestamp())
    body = {"queue_depth": depth, "queue_max": QUEUE_MAX, "orders_per_minute": 40 + depth // 5}
    return web.json_response(body)


class SamplePort:
    """The port that the sample service once had: what was made to call it finds it there again."""

    def __init__(self, data_folder: Path) -> None:
        self._path = data_folder / "sample.port"

    def chosen(self, wanted: int | None) -> int:
        """The one that is wanted, else the kept one, else the usual or one that is free."""
        port = (
            wanted or self._stored() or (USUAL_PORT if is_free(HOST, USUAL_PORT) else free_port())
        )
        if port != self._stored():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(f"{port}\n")
        return port

    def _stored(self) -> int | None:
        try:
            port = int(self._path.read_text())
        except (OSError, ValueError):
            return None
        return port if 0 < port < 65536 else None


@dataclass(frozen=True, slots=True)
class Sample:
    """Where it answers; or why it does not."""

    address: str | None = None
    trouble: str | None = None


@asynccontextmanager
async def sample_service(port: int | None, models: web.Application) -> AsyncGenerator[Sample]:
    """Never on another port than this: what calls it would fail from then on."""
    if port is None:
        yield Sample()
        return
    if not is_free(HOST, port):
        yield Sample(
            trouble=f"The sample service is not up: another program has its port {port}. Free "
            "that, or take another: cadenza up --sample-port PORT"
        )
        return
    app = web.Application()
    app.router.add_get("/queue", _answer)
    app.add_subapp("/models", models)
    async with served_app(app, port) as address:
        yield Sample(f"{address}/queue")
