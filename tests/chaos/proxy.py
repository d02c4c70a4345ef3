"""The wire between one program and its database, with every way in which a wire fails."""

import asyncio
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from tests.adapters.postgres.support import Cable

BEGIN, COMMIT = b"BEGIN;", b"COMMIT;"
# A claim is prepared once, under a name, and then executed by that name.
CLAIM = re.compile(rb"(__asyncpg_stmt_[0-9a-f]+__)\0-- name: claim_due")


class Proxy(Cable):
    """A cable that can also lose the answer to what it has carried, and lead elsewhere."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._loses: str | None = None  # the answer to the next commit, of a "claim" or another
        self._claims: dict[int, bytes] = {}  # by connection, under which name it claims
        self._claiming: set[int] = set()  # connections whose transaction is a claim
        self._answerless: set[int] = set()
        self.lost = 0
        self.on_commit: Callable[[], None] | None = None  # once, when the next one has gone out

    def lead_to(self, url: str) -> None:
        self._parts = urlsplit(url)

    def lose_answer_to(self, what: str) -> None:
        self._loses = what

    def be_well(self) -> None:
        self._loses = self.on_commit = self._swallows = None
        self.let_go()

    def drop(self) -> None:
        """Every connection of now ends; both ends see it."""
        for writer in list(self._open):
            writer.transport.abort()

    async def _carry_both_ways(self, near: Any, far: Any, number: int) -> None:
        ways = {
            asyncio.create_task(self._up(near[0], far[1], number)),
            asyncio.create_task(self._down(far[0], near[1], number)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _up(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        while data := await reader.read(65536):
            await self._flowing.wait()
            if self._is_silent(number, data):
                await asyncio.Event().wait()
            self._look_at(number, data)
            writer.write(data)
            await writer.drain()
            if self.on_commit is not None and COMMIT in data:
                then, self.on_commit = self.on_commit, None
                then()

    async def _down(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        while data := await reader.read(65536):
            await self._flowing.wait()
            if number in self._answerless:
                self._answerless.discard(number)
                self.lost += 1
                return  # which ends the connection: it is done there, and nobody here knows
            if self._is_silent(number, b""):
                await asyncio.Event().wait()
            writer.write(data)
            await writer.drain()

    def _look_at(self, number: int, data: bytes) -> None:
        if (prepared := CLAIM.search(data)) is not None:
            self._claims[number] = prepared[1]
            return
        name = self._claims.get(number)
        if BEGIN in data:
            self._claiming.discard(number)
        elif name is not None and name in data:
            self._claiming.add(number)
        elif COMMIT in data and self._loses == ("claim" if number in self._claiming else "commit"):
            self._loses = None
            self._answerless.add(number)
