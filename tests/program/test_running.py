"""Programs over a real PostgreSQL: in a web application, and several of them."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx2 as httpx
import pytest
import structlog
from fastapi import FastAPI

from cadenza import Cadenza
from cadenza.domain.errors import Refused
from tests.adapters.postgres.support import until
from tests.postgres import MASTER_KEY, migrated_database_url


@pytest.fixture
async def url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[str]:
    monkeypatch.setenv("CADENZA_MASTER_KEY", MASTER_KEY)
    monkeypatch.setenv("CADENZA_TICK_SECONDS", "0.2")
    monkeypatch.chdir(tmp_path)
    async with migrated_database_url() as url:
        yield url


def shop(url: str) -> Cadenza:
    return Cadenza("shop", database_url=url)


async def test_a_program_lives_in_the_lifespan_of_a_web_application(url: str) -> None:
    app, seen = shop(url), asyncio.Event()

    @app.on_demand
    async def count() -> None:
        seen.set()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with app:
            yield

    web = FastAPI(lifespan=lifespan)

    @web.post("/count")
    async def ask() -> str:
        await count.run_now()
        return "asked"

    async with (
        web.router.lifespan_context(web),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=web), base_url="http://web") as client,
    ):
        assert (await client.post("/count")).json() == "asked"
        await asyncio.wait_for(seen.wait(), 120)
    with pytest.raises(Refused):
        await count.run_now()


async def test_a_function_runs_only_where_it_is_registered(url: str) -> None:
    """While a new version is rolled out, one process has a function that the other does not."""
    old, new = shop(url), shop(url)
    seen: list[str] = []

    @old.on_demand(name="count")
    async def count_old() -> None:
        seen.append("old")

    @new.on_demand(name="count")
    async def count_new() -> None:
        seen.append("new")

    @new.on_demand
    async def weigh() -> None:
        seen.append("weighed")

    async with old, new:
        for times in range(1, 6):
            await weigh.run_now()
            await until(lambda times=times: seen.count("weighed") == times)
            await until(lambda: _nothing_runs(url))
        await count_old.run_now()
        await until(lambda: len(seen) == 6)
        await until(lambda: _nothing_runs(url))
    assert await _statuses(url) == {"success"}


async def test_it_cannot_be_started_twice_at_once(url: str) -> None:
    app = shop(url)
    async with app:
        with pytest.raises(Refused, match="already running"):
            await app.__aenter__()


async def test_a_program_that_breaks_beside_others_says_so_at_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its block, such as the life of a web application, may go on for weeks."""

    async def broken(*_: object) -> None:
        raise RuntimeError("torn")

    monkeypatch.setattr("cadenza.roots.functions.listening", broken)
    app = shop(url)
    app.on_demand(name="count")(lambda: None)
    with structlog.testing.capture_logs() as lines, pytest.raises(RuntimeError, match="torn"):
        async with app:
            await until(lambda: any("the program broke" in line["event"] for line in lines))


async def test_what_goes_wrong_at_the_start_leaves_it_startable(url: str) -> None:
    app = Cadenza("shop", database_url=url, tenant="nobody")
    for _ in range(2):
        with pytest.raises(Exception, match="no tenant 'nobody'"):
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(app)


def test_importing_cadenza_loads_nothing_and_takes_no_time() -> None:
    """By what is loaded, and by processor time: others may be using the machine."""
    code = (
        "import sys, time; began = time.process_time(); before = set(sys.modules); import cadenza;"
        "print(time.process_time() - began, *sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    took, *loaded = done.stdout.split()
    assert [name for name in loaded if name.startswith("cadenza")] == ["cadenza"], took
    assert float(took) < 0.15
    assert len(loaded) < 30, loaded


@pytest.mark.parametrize(
    ("imported", "heavy"),
    [
        ("from cadenza import Client", {"aiohttp", "pydantic", "structlog", "typer", "asyncpg"}),
        ("import cadenza.receive", {"aiohttp", "pydantic", "structlog", "typer", "asyncpg"}),
        ("import cadenza.client.errors", {"aiohttp", "pydantic", "structlog", "asyncio"}),
    ],
)
def test_what_a_program_imports_brings_no_more_than_it_needs(
    imported: str, heavy: set[str]
) -> None:
    code = f"{imported}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


async def _nothing_runs(url: str) -> bool:
    running = "SELECT count(*) = 0 FROM endpoints WHERE running_run_id IS NOT NULL"
    return await _value(url, f"{running} OR manual_slot_at IS NOT NULL")


async def _statuses(url: str) -> set[str]:
    return set(await _value(url, "SELECT array_agg(DISTINCT status) FROM runs"))


async def _value(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()
