"""The event stream: what is sent, to whom, and that nothing is left out or sent twice."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import httpx2 as httpx
import pytest

from cadenza.application.ports.event_log import Position
from cadenza.application.sessions import record_analyses
from cadenza.domain.access import Scope
from cadenza.domain.audit import PendingEvent
from cadenza.domain.session import Session, SessionEnd, ToolCall
from tests.adapters.postgres.support import program, until
from tests.factories import FAILED, seconds
from tests.web.reading import Reading, following

TELL = "INSERT INTO events (tenant_id, kind) VALUES ($1, $2)"


@pytest.fixture
def world(world: Reading) -> Reading:
    world.set_pace()
    return world


@pytest.fixture
async def address(world: Reading) -> AsyncIterator[str]:
    async with world.served() as address:
        yield address


@pytest.fixture
async def postgres_address(postgres_world: Reading) -> AsyncIterator[str]:
    postgres_world.set_pace()
    async with postgres_world.served() as address:
        yield address


async def kinds(world: Reading) -> list[str]:
    return await world.backend.event_kinds()


# --- What is sent ---------------------------------------------------------------------------


async def test_an_act_is_told_as_it_happens(world: Reading, address: str) -> None:
    endpoint = await world.add_endpoint()
    async with following(address, world.ours) as stream:
        assert (await stream.next()).kind == "ready"
        await world.post(f"/endpoints/{endpoint.id}/pause", {"reason": "deploy"})
        heard = await stream.next()
    assert heard.kind == heard.data["kind"] == "endpoint.pause"
    assert heard.data["endpoint_id"] == str(endpoint.id)
    assert heard.data["job_id"] == str(world.ours.job_id)
    assert heard.data["data"]["reason"] == "deploy"
    assert heard.data["data"]["by"] == "user ann"


async def test_an_act_that_is_rolled_back_or_changes_nothing_is_not_told(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.post(f"/endpoints/{endpoint.id}/resume")
    refused = await world.client.post(
        f"/api/v1/jobs/{world.ours.job_id}/endpoints",
        headers=world.ours.headers,
        json={"name": "probe", "every": "5m", "url": "http://example.com/"},
    )
    assert refused.status_code == 409
    assert "endpoint.create" not in await kinds(world)
    assert "endpoint.resume" not in await kinds(world)


async def test_keys_and_users_are_no_matter_of_those_who_only_read(world: Reading) -> None:
    reader = await world.add_key(world.ours, Scope.READ)
    await world.post(f"/keys/{reader.key_id}/rotate", {})
    assert len((await world.read("/audit", action="key.rotate"))["items"]) == 1
    assert not [kind for kind in await kinds(world) if kind.startswith(("key", "user", "tenant"))]


async def test_where_nobody_watches_only_failures_and_recoveries_are_told(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.finish_run(endpoint)
    assert await kinds(world) == []
    await world.finish_run(endpoint, FAILED)
    await world.finish_run(endpoint, FAILED)
    await world.finish_run(endpoint)
    assert await kinds(world) == ["run.failed", "run.failed", "endpoint.recovered"]


async def test_while_somebody_watches_each_run_is_told(world: Reading, address: str) -> None:
    endpoint, other = (
        await world.add_endpoint(),
        await world.add_endpoint("theirs", tenancy=world.theirs),
    )
    await world.plan_at(endpoint, None)
    await world.plan_at(other, None)
    async with following(address, world.ours) as stream:
        await stream.next()
        await world.finish_run(other)
        await world.finish_run(endpoint)
        heard = await stream.next()
        assert heard.kind == "run.finished"
        assert heard.data["endpoint_id"] == str(endpoint.id)
        run = await world.read(f"/runs/{heard.data['data']['run_id']}")
        assert run["status"] == heard.data["data"]["status"] == "success"
        await world.finish_run(endpoint, FAILED)
        heard = await stream.next()
        assert (heard.kind, heard.data["data"]["failure_count"]) == ("run.failed", 1)
        await world.finish_run(endpoint)
        assert {(await stream.next()).kind for _ in range(2)} == {
            "run.finished",
            "endpoint.recovered",
        }
    assert len(await kinds(world)) == 4


async def test_a_run_by_a_hint_says_whose_hint_it_is(world: Reading, address: str) -> None:
    endpoint = await world.add_endpoint()
    async with following(address, world.ours) as stream:
        assert (await stream.next()).kind == "ready"
        await world.finish_run(endpoint, FAILED)
        told = (await stream.next()).data["data"]
        assert (told["source"], told["hint_by"]) == ("baseline-interval", None)
        body = {"interval": "20s", "reason": "look"}
        await world.post(f"/endpoints/{endpoint.id}/hints/interval", body)
        assert (await stream.next()).kind == "endpoint.hint.interval"
        await world.finish_run(endpoint, FAILED)
        told = (await stream.next()).data["data"]
        assert (told["source"], told["hint_by"]) == ("ai-interval", "person")


async def test_watching_ends_some_time_after_the_last_stream(world: Reading, address: str) -> None:
    endpoint = await world.add_endpoint()
    async with following(address, world.ours) as stream:
        await stream.next()
    watched_until = await world.backend.watched_until(world.ours.id)
    assert watched_until is not None
    assert seconds(9 * 60) < watched_until - await world.now() <= seconds(10 * 60)
    await world.backend.watch_until(world.ours.id, await world.now())
    await world.finish_run(endpoint)
    assert await kinds(world) == []


async def test_what_the_planner_did_is_told(world: Reading, address: str) -> None:
    endpoint = await world.add_endpoint()
    calls = (ToolCall("propose_interval", {}, {}, took_effect=True), ToolCall("x", {}, {}))
    session = Session(
        uuid4(), world.ours.id, world.ours.job_id, endpoint.id, "rules", await world.now(),
        seconds(1), SessionEnd.SUBMITTED, calls,
    )  # fmt: skip
    async with following(address, world.ours, kind="planner") as stream:
        await stream.next()
        await record_analyses(world.backend.store, [session], "test")
        heard = await stream.next()
    assert heard.kind == "planner.acted"
    assert heard.data["data"]["session_id"] == str(session.id)
    assert heard.data["data"]["tools"] == ["propose_interval"]


# --- To whom --------------------------------------------------------------------------------


async def test_nobody_hears_of_another_tenant(world: Reading, address: str) -> None:
    async with (
        following(address, world.ours) as ours,
        following(address, world.theirs) as theirs,
    ):
        await ours.next()
        await theirs.next()
        await world.post(f"/jobs/{world.theirs.job_id}/pause", {}, tenancy=world.theirs)
        await world.post(f"/jobs/{world.ours.job_id}/pause", {})
        assert (await ours.next()).data["job_id"] == str(world.ours.job_id)
        assert (await theirs.next()).data["job_id"] == str(world.theirs.job_id)


async def test_filters_let_through_what_fits(world: Reading, address: str) -> None:
    one, two = await world.add_endpoint("one"), await world.add_endpoint("two")
    async with (
        following(address, world.ours, kind=["job", "endpoint.pause"]) as by_kind,
        following(address, world.ours, endpoint_id=str(two.id)) as by_endpoint,
        following(address, world.ours, job_id=str(uuid4())) as by_job,
    ):
        for stream in (by_kind, by_endpoint, by_job):
            await stream.next()
        await world.post(f"/endpoints/{one.id}/pause", {})
        await world.post(f"/endpoints/{two.id}/hints/one-shot", {"in": "1h"})
        await world.post(f"/jobs/{world.ours.job_id}/pause", {})
        assert (await by_kind.next()).kind == "endpoint.pause"
        assert (await by_kind.next()).kind == "job.pause"
        assert (await by_endpoint.next()).kind == "endpoint.hint.one-shot"
        with pytest.raises(TimeoutError):
            await by_job.next(within=0.5)


async def test_without_a_key_there_is_no_stream(world: Reading, address: str) -> None:
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{address}/events")).status_code == 401


async def test_a_stream_ends_when_its_key_is_revoked(world: Reading, address: str) -> None:
    reader = await world.add_key(world.ours, Scope.READ)
    async with following(address, reader) as stream:
        await stream.next()
        await world.revoke(reader)
        heard = await stream.next()
        assert heard.kind == "closed"
        assert "key" in heard.data["reason"]
        assert await stream.has_ended()


# --- Nothing is left out or sent twice ------------------------------------------------------


async def test_a_stream_resumes_where_it_broke_off(world: Reading, address: str) -> None:
    async with following(address, world.ours) as stream:
        await stream.next()
        await world.post(f"/jobs/{world.ours.job_id}/pause", {})
        last = (await stream.next()).id
    await world.post(f"/jobs/{world.ours.job_id}/resume")
    await world.post(f"/jobs/{world.ours.job_id}/pause", {})
    async with following(address, world.ours, last) as stream:
        assert (await stream.next()).id == last
        assert [(await stream.next()).kind for _ in range(2)] == ["job.resume", "job.pause"]


async def test_a_stream_that_heard_nothing_resumes_too(world: Reading, address: str) -> None:
    async with following(address, world.ours) as stream:
        begun = (await stream.next()).id
    await world.post(f"/jobs/{world.ours.job_id}/pause", {})
    async with following(address, world.ours, begun) as stream:
        await stream.next()
        assert (await stream.next()).kind == "job.pause"


async def test_a_transaction_that_commits_late_is_not_missed(
    postgres_world: Reading, postgres_address: str
) -> None:
    world, address, postgres = postgres_world, postgres_address, postgres_world.postgres
    late = await asyncpg.connect(postgres.url)
    async with following(address, world.ours) as stream:
        await stream.next()
        transaction = late.transaction()
        await transaction.start()
        await late.execute(TELL, world.ours.id, "late")
        await postgres.execute(TELL, world.ours.id, "early")
        with pytest.raises(TimeoutError):
            await stream.next(within=0.8)  # the early one waits for the late one
        await transaction.commit()
    async with following(address, world.ours, "0-0") as stream:
        await stream.next()
        assert [(await stream.next()).kind for _ in range(2)] == ["late", "early"]
    await late.close()


async def test_under_many_commits_each_event_comes_once_however_often_it_breaks_off(
    world: Reading, address: str
) -> None:
    count, writers = 30, 4

    async def write(number: int) -> None:
        for index in range(count):
            async with world.backend.store.transaction() as tx:
                await tx.add_events([PendingEvent(f"e.{number}-{index}", world.ours.id)])
                await asyncio.sleep(0.001 * ((number * 7 + index) % 11))

    heard: list[str] = []
    last = "0-0"
    async with asyncio.TaskGroup() as writing:
        for number in range(writers):
            writing.create_task(write(number))
        while len(heard) < count * writers:
            async with following(address, world.ours, last) as stream:
                await stream.next()
                for _ in range(min(17, count * writers - len(heard))):
                    event = await stream.next()
                    heard.append(event.kind)
                    last = event.id
    assert len(heard) == len(set(heard)) == count * writers
    for number in range(writers):
        own = [kind for kind in heard if kind.startswith(f"e.{number}-")]
        assert own == [f"e.{number}-{index}" for index in range(count)]


async def test_events_that_do_not_fit_move_the_id_on(world: Reading, address: str) -> None:
    world.set_pace(keep_alive=seconds(0.1))
    async with following(address, world.ours, kind="nothing") as stream:
        begun = await stream.next()
        await world.post(f"/jobs/{world.ours.job_id}/pause", {})
        passed = await stream.next()
    assert passed.kind == "passed"
    assert Position.read(passed.id) > Position.read(begun.id)  # type: ignore[operator]


async def test_transactions_are_ordered_as_numbers(
    postgres_world: Reading, postgres_address: str
) -> None:
    world, address = postgres_world, postgres_address
    for xact in ("99", "100", "9"):
        await world.postgres.execute(
            "INSERT INTO events (tenant_id, kind, xact) VALUES ($1, $2, $2::text::xid8)",
            world.ours.id,
            xact,
        )
    async with following(address, world.ours) as stream:
        assert (await stream.next()).id.startswith("100-")
    async with following(address, world.ours, "0-0") as stream:
        await stream.next()
        assert [(await stream.next()).kind for _ in range(3)] == ["9", "99", "100"]


@pytest.mark.parametrize("bad", ["x", "1", "1-", "-1-2", "1-2-3", "01-2", "9" * 20 + "-1"])
async def test_a_last_event_id_that_is_none_is_refused(world: Reading, bad: str) -> None:
    headers = {**world.ours.headers, "Last-Event-ID": bad}
    answer = await world.client.get("/api/v1/events", headers=headers)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Last-Event-ID"


async def test_a_last_event_id_that_is_too_old_or_foreign_is_answered_clearly(
    world: Reading, address: str
) -> None:
    await world.post(f"/jobs/{world.theirs.job_id}/pause", {}, tenancy=world.theirs)
    async with following(address, world.theirs, "0-0") as stream:
        await stream.next()
        foreign = (await stream.next()).id
    for last in (foreign, "5-5"):
        headers = {**world.ours.headers, "Last-Event-ID": last}
        answer = await world.client.get("/api/v1/events", headers=headers)
        assert answer.status_code == 410
        assert "no longer kept" in answer.json()["detail"]


# --- Limits ---------------------------------------------------------------------------------


async def test_an_idle_stream_says_that_it_lives(world: Reading, address: str) -> None:
    world.set_pace(keep_alive=seconds(0.1))
    async with following(address, world.ours) as stream:
        await stream.next()
        assert (await stream.line()).startswith(":")


async def test_a_key_holds_only_so_many_streams(world: Reading, address: str) -> None:
    world.set_pace(per_key=1)
    async with following(address, world.ours) as stream:
        await stream.next()
        async with following(address, world.ours) as second:
            assert second.response.status_code == 429
            assert second.response.headers["Retry-After"]
        async with following(address, world.theirs) as other:
            assert (await other.next()).kind == "ready"


async def test_a_tenant_with_many_keys_leaves_streams_to_the_others(
    world: Reading, address: str
) -> None:
    world.set_pace(per_tenant=1)
    another_key = await world.add_key(world.ours, Scope.READ)
    async with following(address, world.ours) as stream:
        await stream.next()
        async with following(address, another_key) as second:
            assert second.response.status_code == 429
            assert (
                "a tenant may hold 1 event streams open" in (await second.response.aread()).decode()
            )
        async with following(address, world.theirs) as other:
            assert (await other.next()).kind == "ready"


async def test_a_process_holds_only_so_many_streams_and_a_place_comes_free(
    world: Reading, address: str
) -> None:
    world.set_pace(per_process=1)
    async with following(address, world.ours) as stream:
        await stream.next()
        async with following(address, world.theirs) as second:
            assert second.response.status_code == 429
    async with asyncio.timeout(60):
        while True:
            async with following(address, world.theirs) as again:
                if again.response.status_code == 200:
                    break
            await asyncio.sleep(0.05)


async def test_a_client_that_takes_nothing_is_let_go_and_costs_little(world: Reading) -> None:
    world.set_pace(slowest=seconds(0.5), per_key=1)
    big = PendingEvent("big", world.ours.id, data={"text": "x" * 50_000})
    await world.backend.add_events(*[big] * 1000)
    async with world.served() as address:
        port = int(address.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        head = f"GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.ours.token}"
        writer.write(f"{head}\r\nLast-Event-ID: 0-0\r\n\r\n".encode())
        await writer.drain()
        streams = world.app.state.dependencies.around.streams
        await until(lambda: streams._open)
        await until(lambda: not streams._open, within=20)
        writer.transport.abort()
        del reader


async def test_a_stream_ends_when_the_program_is_told_to_stop(
    postgres_world: Reading, tmp_path: Path
) -> None:
    world, url = postgres_world, postgres_world.postgres.url
    assert url is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = (sys.executable, "-m", "cadenza.roots.main", "api", "--port", str(port))
    with program(tmp_path / "api.log", url, command=command) as api:
        await until(lambda: "api started" in api.output())
        await until(lambda: _accepts(port))
        async with following(f"http://127.0.0.1:{port}/api/v1", world.ours) as stream:
            await stream.next()
            api.send(signal.SIGTERM)
            heard = await stream.next()
            assert heard.kind == "closed"
            assert await stream.has_ended()
        await api.until_ended()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_in_summary_however_much_happens_is_one_event(world: Reading, address: str) -> None:
    events = [PendingEvent("job.x", world.ours.id, None, None, {"n": n}) for n in range(450)]
    async with following(address, world.ours, in_summary="true") as stream:
        assert (await stream.next()).kind == "ready"
        async with world.backend.store.transaction() as tx:
            await tx.add_events(events)
        heard = await stream.next()
    assert (heard.kind, heard.data["count"]) == ("summary", 450)
    assert heard.data["kinds"] == {"job.x": 450}
    assert [event["data"]["n"] for event in heard.data["last"]] == list(range(430, 450))
