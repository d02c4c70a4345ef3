"""`/metrics` of real programs, read by Prometheus's own parser and by promtool."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from cadenza.domain.endpoint import Every
from tests.adapters.postgres.support import CADENZA, World, new_world, program, until
from tests.observability.support import OURS, PATIENCE, Samples, check_metrics, probe_port, scraped
from tests.ports import free_port

TOKEN = "a-token-for-prometheus-alone"
ADMIN_KEY = "the-key-of-the-installation-admin"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with new_world() as world:
        yield world


def _ours(text: str) -> set[str]:
    """Names of our own metrics that are shown, as they are declared."""
    named = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE cadenza_")]
    return set(named)


async def test_a_scheduler_shows_what_it_has_run(world: World, tmp_path: Path) -> None:
    well = await world.add("well", baseline=Every(timedelta(seconds=1)))
    await world.add("badly", url=world.targets.url("badly", status=500))
    with program(tmp_path / "log", world.url, probe_port=0, metrics_tenants="tenant") as worker:
        address = f"http://127.0.0.1:{await probe_port(worker)}"
        await world.until_finished(well, 2, PATIENCE)

        def counted() -> Samples | None:
            samples = Samples(scraped(f"{address}/metrics"))
            labels = {"source": "baseline-interval"}
            enough = samples.value("cadenza_runs_total", outcome="success", **labels) >= 2
            failed = samples.value("cadenza_runs_total", outcome="failure", **labels) >= 1
            lagged = samples.value("cadenza_event_loop_lag_seconds_count") > 0
            return samples if enough and failed and lagged else None

        samples = await until(counted, PATIENCE)
        text = scraped(f"{address}/metrics")
        assert _read(f"{address}/healthz") == {"status": "ok"}
        ready = {"database": "ok", "schema": "ok", "worker": "ok"}
        assert _read(f"{address}/readyz") == {"ready": True, "parts": ready}
    check_metrics(text)
    runs = samples.value("cadenza_run_lateness_seconds_count")
    assert runs == samples.value("cadenza_run_duration_seconds_count") >= 3
    assert samples.value("cadenza_claims_total") >= runs
    assert samples.value("cadenza_claim_duration_seconds_count") > 0
    assert samples.value("cadenza_finish_batch_runs_sum") >= runs
    assert samples.value("cadenza_runs_in_flight_limit") == 200
    assert samples.value("cadenza_installation_read_success") == 1
    assert samples.value("cadenza_workers", kind="scheduler", state="alive") == 1
    assert samples.value("cadenza_database_connections_limit") == 8
    assert samples.value("cadenza_event_loop_lag_seconds_count") > 0
    assert samples.value("process_resident_memory_bytes") > 0
    assert [labels["program"] for labels in samples.labels("cadenza_build_info")] == ["scheduler"]
    assert "_created" not in text
    assert "cadenza_sessions" not in text  # what it has no part in is not shown


async def test_every_worker_shows_its_own_part(world: World, tmp_path: Path) -> None:
    endpoint = await world.add("watched")
    settings = {"probe_port": 0}
    commands = {"planner": (CADENZA, "planner"), "graph-worker": (CADENZA, "graph-worker")}
    with (
        program(tmp_path / "one", world.url, **settings) as _scheduler,
        program(tmp_path / "two", world.url, command=commands["planner"], **settings) as planner,
        program(
            tmp_path / "three", world.url, command=commands["graph-worker"], **settings
        ) as graphs,
    ):
        await world.until_finished(endpoint, within=PATIENCE)
        planner_at = f"http://127.0.0.1:{await probe_port(planner)}/metrics"

        def looked() -> bool:
            samples = Samples(scraped(planner_at))
            labels = samples.labels("cadenza_sessions_total")
            return any(one["brain"] == "rules" for one in labels)

        await until(looked, PATIENCE)
        shown = {
            "planner": scraped(planner_at),
            "graph-worker": scraped(f"http://127.0.0.1:{await probe_port(graphs)}/metrics"),
        }
    for name, text in shown.items():
        check_metrics(text)
        (labels,) = Samples(text).labels("cadenza_build_info")
        assert labels["program"] == name
    assert "cadenza_tokens_total" in _ours(shown["planner"])
    assert "cadenza_runs_in_flight" in _ours(shown["graph-worker"])
    assert "cadenza_runs_total" not in _ours(shown["planner"])


async def test_the_api_shows_metrics_to_whom_it_may(world: World, tmp_path: Path) -> None:
    await world.add("overdue")
    log = tmp_path / "api.log"
    command = (CADENZA, "api", "--port", str(port := free_port()))
    settings = {"metrics_token": TOKEN, "admin_key": ADMIN_KEY}
    with program(log, world.url, command=command, **settings) as api:
        await until(lambda: "api started" in api.output(), within=PATIENCE)
        address = f"http://127.0.0.1:{port}"
        await until(lambda: _status(f"{address}/healthz") == 200, PATIENCE)
        assert _status(f"{address}/metrics") == 401
        assert _status(f"{address}/metrics", "wrong") == 401
        assert _status(f"{address}/metrics", ADMIN_KEY) == 200
        text = scraped(f"{address}/metrics", Authorization=f"Bearer {TOKEN}")
    check_metrics(text)
    samples = Samples(text)
    assert samples.value("cadenza_api_requests_total", method="GET", status="4xx") == 2
    assert samples.value("cadenza_api_requests_total", method="GET", status="2xx") >= 2
    assert samples.value("cadenza_due_backlog") == 1  # no scheduler runs here
    assert samples.value("cadenza_due_oldest_seconds") > 0
    assert TOKEN not in api.output()


async def test_metrics_may_be_open_or_off(world: World, tmp_path: Path) -> None:
    command = (CADENZA, "api", "--port", str(port := free_port()))
    with program(tmp_path / "open", world.url, command=command, metrics_open="true") as api:
        await until(lambda: "api started" in api.output(), within=PATIENCE)
        await until(lambda: _status(f"http://127.0.0.1:{port}/metrics") == 200, PATIENCE)
    off = {"metrics": "false", "metrics_open": "true", "probe_port": 0}
    with program(tmp_path / "off", world.url, **off) as worker:
        at = f"http://127.0.0.1:{await probe_port(worker)}"
        assert _status(f"{at}/metrics") == 501
        assert _status(f"{at}/healthz") == 200


async def test_a_port_that_is_taken_is_told_with_what_to_do(world: World, tmp_path: Path) -> None:
    taken = world.targets.port
    with program(tmp_path / "log", world.url, probe_port=taken) as worker:
        assert await worker.until_ended(PATIENCE) == 1
        assert f"port {taken}" in worker.output()
        assert "CADENZA_PROBE_PORT" in worker.output()
        assert "Traceback" not in worker.output()


async def test_the_token_guards_a_workers_metrics_too(world: World, tmp_path: Path) -> None:
    with program(tmp_path / "log", world.url, probe_port=0, metrics_token=TOKEN) as worker:
        at = f"http://127.0.0.1:{await probe_port(worker)}"
        assert _status(f"{at}/metrics") == 401
        assert _status(f"{at}/metrics", TOKEN) == 200
        assert _status(f"{at}/readyz") == 200


def test_every_metric_has_a_part_and_a_text() -> None:
    assert all(metric.about.endswith(".") for metric in OURS.values())


def _read(url: str) -> Any:
    with urlopen(url, timeout=PATIENCE) as answer:
        return json.load(answer)


def _status(url: str, token: str = "") -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE) as answer:
            return answer.status
    except HTTPError as error:
        return error.code
    except OSError:
        return 0
