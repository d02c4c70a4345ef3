"""A small shop on this machine: visitors come in a rush, and more workers make it fast again."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from aiohttp import web

from cadenza.adapters.system.listening import served_app

FEW, MANY = 60, 600  # visitors
BASE_WORKERS, MORE_WORKERS = 2, 6
# Of the whole length: when the rush begins, and when it is over.
RUSH_BEGINS, RUSH_ENDS = 0.18, 0.6
CALM, RUSH, OVER = "a calm shop", "a rush of visitors", "the rush is over"


def part_of_story(share: float) -> str:
    if share < RUSH_BEGINS:
        return CALM
    return RUSH if share < RUSH_ENDS else OVER


class Shop:
    """What it answers depends on the visitors and on how many workers it was given."""

    def __init__(self, passed: Callable[[], float]) -> None:
        self._passed = passed  # the share of the story that is over
        self.workers = BASE_WORKERS
        self.messages = 0

    @property
    def visitors(self) -> int:
        return MANY if part_of_story(self._passed()) == RUSH else FEW

    @property
    def page_load_ms(self) -> int:
        return 150 + 6 * self.visitors // self.workers

    def state(self) -> dict[str, int]:
        return {
            "visitors": self.visitors,
            "page_load_ms": self.page_load_ms,
            "workers": self.workers,
        }

    def checkout(self) -> dict[str, int]:
        return {"orders_waiting": max(0, (self.page_load_ms - 500) // 10)}

    def add_workers(self) -> dict[str, int]:
        self.workers = MORE_WORKERS
        return {"workers": self.workers}

    def release_workers(self) -> dict[str, int]:
        self.workers = BASE_WORKERS
        return {"workers": self.workers}

    def take_message(self) -> dict[str, int]:
        self.messages += 1
        return {"messages": self.messages}


def served(shop: Shop) -> AbstractAsyncContextManager[str]:
    """Its address, on whatever port is free."""
    app = web.Application()
    app.router.add_get("/shop", _answering(shop.state))
    app.router.add_get("/checkout", _answering(shop.checkout))
    app.router.add_post("/workers", _answering(shop.add_workers))
    app.router.add_delete("/workers", _answering(shop.release_workers))
    app.router.add_post("/messages", _answering(shop.take_message))
    return served_app(app, port=0)


def _answering(answer: Callable[[], dict[str, int]]) -> Any:
    async def handler(_request: web.Request) -> web.Response:
        return web.json_response(answer())

    return handler
