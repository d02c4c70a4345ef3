"""A run with its trace: a real worker, a real target, a real receiver of OTLP."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest
from aiohttp import ClientConnectionError, ClientSession, web
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from cadenza import Cadenza, current_run
from cadenza.adapters.system.listening import served_app
from tests.adapters.postgres.support import CADENZA, World, new_world, program, until
from tests.observability.support import PATIENCE, Receiver, attributes, receiving
from tests.ports import free_port
from tests.postgres import MASTER_KEY


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")  # milliseconds between two sendings
    async with new_world() as world:
        yield world


class Target:
    """Remembers the `traceparent` of what it was asked."""

    def __init__(self, status: int = 200) -> None:
        self.seen: list[str | None] = []
        self.status = status

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        self.seen.append(request.headers.get("traceparent"))
        return web.json_response({"ok": True}, status=self.status)


async def _spans_of(receiver: Receiver, trace_id: UUID, count: int) -> None:
    await until(lambda: len(receiver.of(trace_id)) >= count, within=PATIENCE)


async def test_a_run_is_traced_from_claim_to_store(world: World, tmp_path: Path) -> None:
    target = Target()
    async with served_app(target.app(), 0) as address:
        endpoint = await world.add("traced", url=f"{address}/")
        with receiving() as receiver:
            settings = {
                "trace_ratio": 1,
                "trace_url": receiver.url,
                "trace_headers": "X-Tenant=shop, Authorization=Bearer of-the-collector",
            }
            with program(tmp_path / "log", world.url, **settings) as worker:
                run, *_ = await world.until_finished(endpoint, within=PATIENCE)
                await _spans_of(receiver, run["id"], 4)
                spans = receiver.of(run["id"])
    assert set(spans) == {"run", "hold", "dispatch", "store"}
    root = spans["run"]
    assert root.parent_span_id == b""
    assert all(spans[name].parent_span_id == root.span_id for name in ("hold", "dispatch", "store"))
    about = attributes(root)
    assert about["cadenza.endpoint"] == "traced"
    assert about["cadenza.endpoint_id"] == str(endpoint.id)
    assert about["cadenza.tenant_id"] == str(endpoint.tenant_id)
    assert (about["cadenza.source"], about["cadenza.outcome"]) == ("baseline-interval", "success")
    assert attributes(spans["dispatch"])["http.response.status_code"] == 200
    # What the target was sent names this trace and the span of the dispatch.
    assert target.seen[0] == f"00-{run['id'].hex}-{spans['dispatch'].span_id.hex()}-03"
    # Claimed and stored with others, in batches that have traces of their own.
    linked = {link.span_id for link in root.links}
    batches = {span.name for span in receiver.spans if span.span_id in linked}
    assert batches == {"claim", "finish"}
    ends = [spans[name].end_time_unix_nano for name in ("hold", "dispatch", "store")]
    assert ends == sorted(ends)
    assert root.start_time_unix_nano <= spans["hold"].start_time_unix_nano
    assert receiver.resources[0]["service.name"] == "cadenza-scheduler"
    assert receiver.headers[0]["x-tenant"] == "shop"
    assert "of-the-collector" not in worker.output()


async def test_a_failing_run_is_an_error_with_its_trace_in_the_log(
    world: World, tmp_path: Path
) -> None:
    target = Target(status=503)
    async with served_app(target.app(), 0) as address:
        endpoint = await world.add("failing", url=f"{address}/")
        with receiving() as receiver:
            settings = {"trace_ratio": 1, "trace_url": receiver.url}
            with program(tmp_path / "log", world.url, **settings) as worker:
                run, *_ = await world.until_finished(endpoint, within=PATIENCE)
                await _spans_of(receiver, run["id"], 4)
                lines = [line for line in worker.lines() if line["event"] == "run failed"]
    assert receiver.of(run["id"])["run"].status.code == Status.STATUS_CODE_ERROR
    line = lines[0]
    assert line["endpoint"] == "failing"
    assert line["trace_id"] == run["id"].hex
    assert line["run_id"] == str(run["id"])
    assert line["endpoint_id"] == str(endpoint.id)
    assert line["tenant_id"] == str(endpoint.tenant_id)
    assert (line["level"], line["code"]) == ("warning", 503)


async def test_without_tracing_a_target_is_sent_nothing_of_it(world: World, tmp_path: Path) -> None:
    target = Target()
    async with served_app(target.app(), 0) as address:
        endpoint = await world.add("plain", url=f"{address}/")
        with program(tmp_path / "log", world.url):
            await world.until_finished(endpoint, within=PATIENCE)
    assert set(target.seen) == {None}


async def test_a_receiver_that_is_away_holds_up_nothing(world: World, tmp_path: Path) -> None:
    endpoint = await world.add("traced")
    nobody = f"http://127.0.0.1:{free_port()}/v1/traces"
    with program(tmp_path / "log", world.url, trace_ratio=1, trace_url=nobody) as worker:
        await world.until_finished(endpoint, within=PATIENCE)
        worker.process.terminate()
        assert await worker.until_ended(within=PATIENCE) == 0
    assert all(line["event"] for line in worker.lines())
    assert len(worker.lines()) == len(worker.output().splitlines())  # JSON, to the last line


async def test_a_function_knows_its_trace(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CADENZA_MASTER_KEY", MASTER_KEY)
    monkeypatch.chdir(tmp_path)
    app, seen = Cadenza("shop", database_url=world.url), asyncio.Queue[tuple[str, str | None]]()

    @app.on_demand
    async def count() -> None:
        run = current_run()
        await seen.put((run.id, run.traceparent))

    with receiving() as receiver:
        monkeypatch.setenv("CADENZA_TRACE_RATIO", "1")
        monkeypatch.setenv("CADENZA_TRACE_URL", receiver.url)
        async with app:
            await count.run_now()
            run_id, traceparent = await asyncio.wait_for(seen.get(), PATIENCE)
            await _spans_of(receiver, UUID(run_id), 4)
        dispatch = receiver.of(UUID(run_id))["dispatch"]
    assert traceparent == f"00-{UUID(run_id).hex}-{dispatch.span_id.hex()}-03"


async def test_a_session_of_the_planner_is_traced(world: World, tmp_path: Path) -> None:
    endpoint = await world.add("falls", url=world.targets.url("falls", status=500))
    with receiving() as receiver:
        settings = {"trace_ratio": 1, "trace_url": receiver.url}
        command = (CADENZA, "planner")
        with (
            program(tmp_path / "one", world.url),
            program(tmp_path / "two", world.url, command=command, **settings),
        ):
            await world.until_finished(endpoint, within=PATIENCE)
            await until(
                lambda: [one for one in receiver.spans if one.name == "session"], within=PATIENCE
            )
    about = attributes(next(span for span in receiver.spans if span.name == "session"))
    assert about["cadenza.endpoint"] == "falls"
    assert about["cadenza.brain"] == "rules"


async def test_a_request_to_the_api_continues_the_trace_of_its_client(
    world: World, tmp_path: Path
) -> None:
    trace_id = UUID(int=0x0AF7651916CD43DD8448EB211C80319C)
    with receiving() as receiver:
        command = (CADENZA, "api", "--port", str(port := free_port()))
        settings = {"trace_ratio": 0.000001, "trace_url": receiver.url}
        with program(tmp_path / "log", world.url, command=command, **settings) as api:
            await until(lambda: "api started" in api.output(), within=PATIENCE)
            async with ClientSession() as client:
                url = f"http://127.0.0.1:{port}/api/v1/jobs"
                await until(lambda: _answers(client, url), PATIENCE)
                given = {"traceparent": f"00-{trace_id.hex}-b7ad6b7169203331-01"}
                async with client.get(url, headers=given) as answer:
                    assert answer.status == 401
                async with client.get(url, headers={"traceparent": "00-nonsense"}) as answer:
                    assert answer.status == 401
                await _spans_of(receiver, trace_id, 1)
    span = receiver.of(trace_id)["api GET"]
    assert span.parent_span_id.hex() == "b7ad6b7169203331"
    assert attributes(span)["http.response.status_code"] == 401
    assert attributes(span)["http.route"] == "/api/v1/jobs"
    assert len(receiver.spans) == 1


async def _answers(client: ClientSession, url: str) -> bool:
    try:
        async with client.get(url):
            return True
    except ClientConnectionError:
        return False
