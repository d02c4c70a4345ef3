"""Graphs at their slots, and everything under `cadenza up`, as they are watched."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.error import URLError

import pytest

from cadenza.adapters.system.listening import HOST
from tests.adapters.postgres.support import CADENZA, World, new_world, program, until
from tests.graphs.test_worker_process import Graphs, graphs  # noqa: F401 - a fixture
from tests.observability.support import (
    PATIENCE,
    Samples,
    attributes,
    check_metrics,
    probe_port,
    receiving,
    scraped,
)
from tests.ports import free_port, free_ports


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with new_world() as world:
        yield world


async def test_a_slot_of_a_graph_is_counted_and_traced(
    graphs: Graphs,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    with receiving() as receiver:
        settings = {"probe_port": 0, "trace_ratio": 1, "trace_url": receiver.url}
        worker = await graphs.worker(**settings)
        schedule_id = await graphs.schedule("touch", {"path": str(tmp_path / "pids")})
        run = await graphs.ended(schedule_id)
        await until(lambda: len(receiver.of(run["id"])) >= 4, PATIENCE)
        at = f"http://127.0.0.1:{await probe_port(worker)}/metrics"
        text = scraped(at)
    check_metrics(text)
    spans = receiver.of(run["id"])
    assert set(spans) == {"run", "hold", "dispatch", "store"}
    about = attributes(spans["run"])
    assert (about["cadenza.source"], about["cadenza.outcome"]) == ("schedule", run["status"])
    labels = {"source": "schedule", "outcome": run["status"]}
    assert Samples(text).value("cadenza_runs_total", **labels) == 1


@pytest.mark.chaos
async def test_up_serves_its_own_metrics_and_those_of_its_workers(
    world: World, tmp_path: Path
) -> None:
    first = free_ports(4)[0]
    settings = {"probe_port": first, "metrics_open": "true", "data_folder": tmp_path}
    command = (CADENZA, "up", "--port", str(port := free_port()), "--no-sample")
    with program(tmp_path / "log", world.url, command=command, **settings) as up:
        programs = ("up", "scheduler", "planner", "graph-worker")
        for number, name in enumerate(programs):
            url = f"http://{HOST}:{first + number}/metrics"
            text = await until(lambda url=url: _scraped(url), PATIENCE)
            check_metrics(text)
            (labels,) = Samples(text).labels("cadenza_build_info")
            assert labels["program"] == name
        await until(lambda: _scraped(f"http://{HOST}:{port}/metrics"), PATIENCE)
        at = f"http://{HOST}:{first}/metrics"
        assert Samples(scraped(at)).value("cadenza_program_up", program="planner") == 1
        os.kill(_child(up.process.pid, "planner"), signal.SIGKILL)
        restarts = "cadenza_program_restarts_total"
        await until(lambda: Samples(scraped(at)).value(restarts, program="planner") == 1, PATIENCE)
        up.send(signal.SIGTERM)
        await up.until_ended(PATIENCE)


def _scraped(url: str) -> str | None:
    try:
        return scraped(url)
    except (URLError, OSError):
        return None


def _child(parent: int, name: str) -> int:
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(parent)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (line,) = [line for line in listed.splitlines() if line.rstrip().endswith(f" {name}")]
    return int(line.split()[0])
