"""Two copies of one program, of which one is killed in the middle of its runs."""

import signal
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import asyncpg
import pytest

from cadenza.domain.instants import iso
from tests.adapters.postgres.support import Program, program, until
from tests.factories import seconds
from tests.postgres import migrated_database_url
from tests.program.till import TILLS

pytestmark = pytest.mark.chaos

TILL = (sys.executable, str(Path(__file__).with_name("till.py")))
LEASE = 3
LONG = 180  # seconds that a busy machine may take for any of it


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with migrated_database_url() as url:
        yield url


async def test_no_slot_is_lost_and_none_comes_twice_without_a_word(
    url: str, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    # Neither has room for all of them, so that both have work.
    settings = {"lease_seconds": LEASE, "tick_seconds": 1, "in_flight": 8, "test_notes": notes}
    first = program(tmp_path / "first.log", url, command=TILL, **settings)
    second = program(tmp_path / "second.log", url, command=TILL, **settings)
    with first as one, second as two:
        await _started(one)
        await _started(two)
        pids = {str(one.process.pid), str(two.process.pid)}
        await until(lambda: _pids(notes) == pids, within=LONG)
        connection = await asyncpg.connect(url)
        try:
            await until(lambda: _holds(connection, one), within=LONG)
            one.send(signal.SIGKILL)
            await until(lambda: _taken_over(connection), within=LONG)
            after = len(_read(notes))
            await until(lambda: len(_read(notes)) > after + 3 * TILLS, within=LONG)
            two.send(signal.SIGTERM)
            assert await two.until_ended(within=LONG) == 0, two.output()
            await _check(connection, notes)
        finally:
            await connection.close()


async def _started(one: Program) -> None:
    await until(lambda: "program started" in one.output(), within=LONG)


async def _holds(connection: asyncpg.Connection, one: Program) -> bool:
    """Some of its runs are under way at this moment."""
    held = "SELECT count(*) FROM endpoints WHERE leased_by LIKE $1 AND running_run_id IS NOT NULL"
    return await connection.fetchval(held, f"%-{one.process.pid}-till") > 0


async def _taken_over(connection: asyncpg.Connection) -> bool:
    return await connection.fetchval("SELECT count(*) FROM runs WHERE attempt > 1") > 0 and (
        await connection.fetchval(
            "SELECT count(*) = 0 FROM endpoints WHERE lease_until < clock_timestamp()"
        )
    )


async def _check(connection: asyncpg.Connection, notes: Path) -> None:
    runs = await connection.fetch("SELECT * FROM runs ORDER BY slot_at")
    assert {run["status"] for run in runs} == {"success"}
    attempts = {f"{run['endpoint_id']}:{iso(run['slot_at'])}": run["attempt"] for run in runs}
    # What was done twice was done under one key, and says so; nothing else was done twice.
    done = Counter(key for key, _, _ in _read(notes))
    assert set(done) == set(attempts)
    for key, count in done.items():
        assert count <= attempts[key]
    lost = await connection.fetch("SELECT run_id FROM run_attempts")
    assert len(lost) == sum(attempt - 1 for attempt in attempts.values()) > 0
    # Each slot follows the one before it by the interval, or says how many it has passed over.
    slots = defaultdict(list)
    for run in runs:
        slots[run["endpoint_id"]].append(run)
    assert len(slots) == TILLS
    for of_one in slots.values():
        for before, after in pairwise(of_one):
            gap = after["slot_at"] - before["slot_at"]
            assert gap // seconds(1) - 1 <= before["skipped_slots"]


def _read(notes: Path) -> list[tuple[str, ...]]:
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [tuple(line.split()) for line in lines]


def _pids(notes: Path) -> set[str]:
    return {pid for _, _, pid in _read(notes)}
