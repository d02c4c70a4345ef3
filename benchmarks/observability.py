"""What it costs to be watched: runs a second with nobody watching, with metrics, and with traces.

Three workers, each on a database of its own in one server, are started once and work in turns, many
short ones, so that what else the machine does falls on all of them. Each is compared with the one
of its round that nobody watched, and the median of these counts: a few bad rounds do not move it.
Metrics of the one whose turn it is are scraped every second, so that the turn of one that nobody
watches pays for no other's; of the traces, one in a hundred is sent to a receiver over OTLP.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import mean, median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import uvloop

from benchmarks.machine import load_now
from benchmarks.stage import Stage, arguments, connected, measured, report, stage, workers
from benchmarks.throughput import DUE, LATER, prepare
from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.system.listening import free_port

OFF, METRICS, TRACES = "off", "metrics", "traces"
MODES = (OFF, METRICS, TRACES)
RATIO = 0.01
SCRAPE_EVERY = 1.0
TICKS = os.sysconf("SC_CLK_TCK")


async def main(*, quick: bool) -> dict[str, Any]:
    count, rounds = (500, 2) if quick else (5_000, 16)
    began = load_now()
    turns: dict[str, list[Turn]] = {mode: [] for mode in MODES}
    with receiver() as received:
        async with AsyncExitStack() as stack:
            here = await stack.enter_async_context(stage())
            places = {
                mode: await stack.enter_async_context(_place(here, mode, received.url))
                for mode in MODES
            }
            for mode in MODES:
                await _turn(*places[mode], count // 5)  # what is done once only
            for number in range(rounds):
                # Whoever comes first has the cooler caches: each does in its turn.
                for mode in (*MODES[number % 3 :], *MODES[: number % 3]):
                    turns[mode].append(await _turn(*places[mode], count))
    rates = {mode: mean(turn.runs_per_s for turn in turns[mode]) for mode in MODES}
    busy = {mode: mean(turn.cpu_us_per_run for turn in turns[mode]) for mode in MODES}
    cost = {
        mode: median(
            1 - seen.runs_per_s / alone.runs_per_s
            for seen, alone in zip(turns[mode], turns[OFF], strict=True)
        )
        for mode in (METRICS, TRACES)
    }
    cpu_cost = {
        mode: median(
            seen.cpu_us_per_run / alone.cpu_us_per_run - 1
            for seen, alone in zip(turns[mode], turns[OFF], strict=True)
        )
        for mode in (METRICS, TRACES)
    }
    result = {
        **{f"{mode}_runs_per_s": round(rates[mode]) for mode in MODES},
        "metrics_cost": round(cost[METRICS], 3),
        "tracing_cost": round(cost[TRACES], 3),
        **{f"{mode}_cpu_us_per_run": round(busy[mode], 1) for mode in MODES},
        "metrics_cpu_cost": round(cpu_cost[METRICS], 3),
        "tracing_cpu_cost": round(cpu_cost[TRACES], 3),
        "trace_ratio": RATIO,
        "trace_requests": received.count,
        "endpoints": count,
        "rounds": rounds,
        "lost": sum(turn.lost for each in turns.values() for turn in each),
    }
    return measured(result, began)


@dataclass(frozen=True, slots=True)
class Turn:
    runs_per_s: float
    cpu_us_per_run: float
    lost: int


@asynccontextmanager
async def _place(here: Stage, mode: str, url: str) -> AsyncGenerator[tuple[Stage, int, int | None]]:
    """A database of its own with a worker on it; the worker's process, and where it is scraped."""
    await here.execute(f"CREATE DATABASE {mode}")
    own = urlunsplit(urlsplit(here.url)._replace(path=f"/{mode}"))
    database = await open_database(own, connections=4)
    port = free_port()
    try:
        await migrate(database)
        with workers(own, 1, **_settings(mode, port, url)) as (worker,):
            place = Stage(own, database, here.target)
            await connected(place, 1)
            if mode == OFF:
                yield place, worker.pid, None
            else:
                await _answers(port)
                yield place, worker.pid, port
    finally:
        await database.close()


def _settings(mode: str, port: int, url: str) -> dict[str, object]:
    if mode == OFF:
        return {"METRICS": "false"}
    probes: dict[str, object] = {"PROBE_PORT": port}
    return probes if mode == METRICS else {**probes, "TRACE_RATIO": RATIO, "TRACE_URL": url}


async def _turn(here: Stage, pid: int, port: int | None, count: int) -> Turn:
    await prepare(here, count, LATER)
    await here.execute(f"UPDATE endpoints SET next_run_at = {DUE}")
    await here.execute("VACUUM endpoints")
    async with _scraped(port):
        before = _cpu_seconds(pid)
        await here.execute("SELECT pg_notify('cadenza_due', '')")
        await here.finished(count, within=120)
        used = _cpu_seconds(pid) - before
    ended = await here.json(
        "SELECT json_build_object("
        " 'seconds', extract(epoch FROM max(finished_at) - min(claimed_at)),"
        " 'ok', count(*) FILTER (WHERE status = 'success'))::text FROM runs"
    )
    rate = ended["ok"] / ended["seconds"]
    return Turn(rate, used / count * 1e6, count - ended["ok"])


async def _answers(port: int) -> None:
    """It listens a moment after it has connected to its database."""
    async with asyncio.timeout(60), aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{port}/healthz"):
                    return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.1)


@asynccontextmanager
async def _scraped(port: int | None) -> AsyncGenerator[None]:
    """At its beginning and every second, for as long as the turn lasts. One that cannot be scraped
    ends the benchmark: a figure of metrics that nobody reads would be none."""
    scraping = None if port is None else asyncio.create_task(_scrape(port))
    try:
        yield
    finally:
        if scraping is not None:
            scraping.cancel()
            with suppress(asyncio.CancelledError):
                await scraping


async def _scrape(port: int) -> None:
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
                assert answer.status == 200
                await answer.read()
            await asyncio.sleep(SCRAPE_EVERY)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Received:
    count = 0
    url = ""


@contextmanager
def receiver() -> Generator[Received]:
    """Takes what is sent, and reads none of it: what a collector does with it is not ours."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            received.count += 1
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}/v1/traces"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    options = arguments(__doc__ or "")
    report("observability", uvloop.run(main(quick=options.quick)), as_json=options.json)
