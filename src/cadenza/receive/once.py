"""One call for each key, however often it is delivered: begun, done with its answer, or begun by
somebody who was lost.

A slot may come again when a worker was lost. What was done is not done again: its answer is given
once more. What somebody is at now is refused; what was begun and left is taken up after a while.
"""

import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from inspect import isawaitable
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from cadenza.adapters.system.clock import wall_clock
from cadenza.receive.verifying import CONFLICT, Call, Rejected

T = TypeVar("T")
LEFT_AFTER = timedelta(minutes=30)  # the longest that Cadenza waits for an answer
KEPT_FOR = timedelta(days=7)
Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Begun:
    """Ours to do, or done before with this answer, or neither: somebody is at it."""

    is_ours: bool
    is_done: bool = False
    answer: str | None = None  # JSON


OURS, BUSY = Begun(is_ours=True), Begun(is_ours=False)


class Calls(Protocol):
    """Where keys are remembered. A store may be asynchronous: then only `once` can use it."""

    def begin(self, key: str) -> Begun | Awaitable[Begun]: ...

    def finish(self, key: str, answer: str) -> Awaitable[None] | None: ...

    def forget(self, key: str) -> Awaitable[None] | None: ...


async def once(calls: Calls, call: Call, work: Callable[[], Awaitable[T]]) -> T:
    """Its answer, now or from before (then as JSON has it); an exception lets the next attempt do
    it again."""
    begun = await _settled(calls.begin(call.key))
    if not begun.is_ours:
        return _earlier(begun)
    try:
        answer = await work()
        written = json.dumps(answer)
    except BaseException:
        await _settled(calls.forget(call.key))
        raise
    await _settled(calls.finish(call.key, written))
    return answer


def once_sync(calls: Calls, call: Call, work: Callable[[], T]) -> T:
    """The same for a program without a loop."""
    begun = calls.begin(call.key)
    if isawaitable(begun):
        begun.close()  # type: ignore[attr-defined]
        raise TypeError(f"{type(calls).__name__} needs a loop: use `once`")
    if not begun.is_ours:
        return _earlier(begun)
    try:
        answer = work()
        written = json.dumps(answer)
    except BaseException:
        calls.forget(call.key)
        raise
    calls.finish(call.key, written)
    return answer


async def _settled(value: T | Awaitable[T]) -> T:
    return await cast("Awaitable[T]", value) if isawaitable(value) else cast("T", value)


def _earlier(begun: Begun) -> Any:
    if not begun.is_done:
        raise Rejected("an earlier attempt of this slot is still at work", CONFLICT)
    return json.loads(begun.answer or "null")


class MemoryCalls:
    """For one process, as long as it lives."""

    def __init__(self, now: Now = wall_clock, left_after: timedelta = LEFT_AFTER) -> None:
        self._now = now
        self._left_after = left_after
        self._known: dict[str, tuple[datetime, str | None]] = {}
        self._lock = threading.Lock()

    def begin(self, key: str) -> Begun:
        now = self._now()
        with self._lock:
            self._prune(now)
            begun_at, answer = self._known.get(key, (None, None))
            if answer is not None:
                return Begun(is_ours=False, is_done=True, answer=answer)
            if begun_at is not None and begun_at > now - self._left_after:
                return BUSY
            self._known[key] = (now, None)
            return OURS

    def finish(self, key: str, answer: str) -> None:
        with self._lock:
            self._known[key] = (self._now(), answer)

    def forget(self, key: str) -> None:
        with self._lock:
            self._known.pop(key, None)

    def _prune(self, now: datetime) -> None:
        """In the order in which they were begun; the first that is young ends it."""
        while self._known:
            key = next(iter(self._known))
            if self._known[key][0] > now - KEPT_FOR:
                return
            del self._known[key]


_TABLE = """CREATE TABLE IF NOT EXISTS {table} (
    key text PRIMARY KEY, begun_at {instant} NOT NULL, answer text)"""
_INDEX = "CREATE INDEX IF NOT EXISTS {table}_begun_at ON {table} (begun_at)"
_PRUNE = "DELETE FROM {table} WHERE begun_at < {forgotten}"
# Ours where it is new, or was begun long ago and has no answer: one statement decides.
_BEGIN = """INSERT INTO {table} AS known (key, begun_at) VALUES ({key}, {now})
    ON CONFLICT (key) DO UPDATE SET begun_at = excluded.begun_at
    WHERE known.answer IS NULL AND known.begun_at <= {left}
    RETURNING key"""
_ANSWER = "SELECT answer FROM {table} WHERE key = {key}"
_FINISH = "UPDATE {table} SET answer = {answer} WHERE key = {key}"
_FORGET = "DELETE FROM {table} WHERE key = {key} AND answer IS NULL"


class SqliteCalls:
    """For the processes of one machine, in a file of their own."""

    def __init__(
        self, path: str | Path, now: Now = wall_clock, left_after: timedelta = LEFT_AFTER
    ) -> None:
        self._path = str(path)
        self._now = now
        self._left_after = left_after
        names = {"table": "cadenza_calls", "instant": "real", "key": "?1", "now": "?2"}
        names |= {"left": "?3", "answer": "?2", "forgotten": "?1"}
        statements = {
            "table": _TABLE, "index": _INDEX, "prune": _PRUNE, "begin": _BEGIN,
            "answer": _ANSWER, "finish": _FINISH, "forget": _FORGET,
        }  # fmt: skip
        self._sql = {name: statement.format(**names) for name, statement in statements.items()}
        self._do("table")
        self._do("index")

    def begin(self, key: str) -> Begun:
        now = self._now()
        self._do("prune", (now - KEPT_FOR).timestamp())
        left = (now - self._left_after).timestamp()
        if self._do("begin", key, now.timestamp(), left):
            return OURS
        rows = self._do("answer", key)
        answer = rows[0][0] if rows else None
        return BUSY if answer is None else Begun(is_ours=False, is_done=True, answer=answer)

    def finish(self, key: str, answer: str) -> None:
        self._do("finish", key, answer)

    def forget(self, key: str) -> None:
        self._do("forget", key)

    def _do(self, name: str, *values: object) -> list[Any]:
        """A connection for each, for the threads of a server share none."""
        with closing(sqlite3.connect(self._path, timeout=10)) as connection, connection:
            return connection.execute(self._sql[name], values).fetchall()


_IS_THERE = "SELECT to_regclass($1)"
# Two that make the table at once would get into each other's way.
_LOCK = "SELECT pg_advisory_xact_lock(20260302)"


class PostgresCalls:
    """For any number of processes, over an asyncpg pool of yours; the table is made when it is
    first used. Inside a transaction of your own, give its connection: then the key and what you
    do are stored together, or not at all."""

    def __init__(
        self, pool: Any, left_after: timedelta = LEFT_AFTER, table: str = "cadenza_calls"
    ) -> None:
        if not table.replace("_", "").isalnum():
            raise ValueError(f"{table!r} is not a plain table name: use letters, digits and _")
        self._pool = pool
        self._table = table.lower()  # as PostgreSQL reads it without quotes
        self._left_after = left_after
        names = {"table": table, "instant": "timestamptz", "key": "$1", "answer": "$2"}
        names |= {"now": "clock_timestamp()", "left": "clock_timestamp() - $2::interval"}
        names["forgotten"] = "clock_timestamp() - $1::interval"
        self._sql = [
            statement.format(**names)
            for statement in (
                f"{_LOCK};{_TABLE};{_INDEX}",
                _PRUNE,
                _BEGIN,
                _ANSWER,
                _FINISH,
                _FORGET,
            )
        ]
        self._is_there = False

    async def begin(self, key: str) -> Begun:
        table, prune, begin, answer, _, _ = self._sql
        if not self._is_there:
            # Looked for first: the lock is held to the end of a transaction of yours.
            if await self._pool.fetchval(_IS_THERE, self._table) is None:
                await self._pool.execute(table)
            self._is_there = True
        await self._pool.execute(prune, KEPT_FOR)
        if await self._pool.fetchval(begin, key, self._left_after) is not None:
            return OURS
        known = await self._pool.fetchval(answer, key)
        return BUSY if known is None else Begun(is_ours=False, is_done=True, answer=known)

    async def finish(self, key: str, answer: str) -> None:
        await self._pool.execute(self._sql[4], key, answer)

    async def forget(self, key: str) -> None:
        await self._pool.execute(self._sql[5], key)
