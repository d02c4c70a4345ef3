"""How much runs, and how: by time, by job, by state; and what planners spend."""

from dataclasses import replace
from uuid import uuid4

import pytest

from cadenza.adapters.memory import activity as memory_activity
from cadenza.adapters.postgres import activity as postgres_activity
from cadenza.application.sessions import record_analyses
from cadenza.domain.instants import iso
from cadenza.domain.session import Session, SessionEnd
from tests.factories import minutes, seconds
from tests.web.reading import Reading


async def test_runs_are_counted_by_family_and_outcome(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    begin = now - minutes(10)
    for number, status in enumerate(("success", "failure", "timeout")):
        await world.add_run(endpoint, begin + seconds(number), status=status)
    await world.add_run(endpoint, begin + minutes(5), source="ai-oneshot")
    span = {"from": iso(begin), "to": iso(now)}
    activity = await world.read("/activity", buckets=10, **span)
    assert (activity["bucket_ms"], activity["known_from"]) == (60_000, None)
    first, last = activity["buckets"]
    assert (first["from"], first["counts"]) == (iso(begin), {"baseline": 3})
    assert (first["failed"], first["timed_out"]) == (1, 1)
    assert last["counts"] == {"once": 1}


async def test_lateness_and_duration_have_percentiles(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    for number in range(1, 21):
        slot_at = now - minutes(5) + seconds(number)
        started_at = slot_at + seconds(number)
        ended = {"started_at": started_at, "finished_at": started_at + seconds(2 * number)}
        await world.add_run(endpoint, slot_at, **ended)
    (bucket,) = (await world.read("/activity", buckets=1))["buckets"]
    assert bucket["lateness_ms"] == {"p50": 10_000, "p95": 19_000}
    assert bucket["duration_ms"] == {"p50": 20_000, "p95": 38_000}


async def test_activity_is_of_a_job_or_of_an_endpoint(world: Reading) -> None:
    one, two = await world.add_endpoint("one"), await world.add_endpoint("two")
    now = await world.now()
    for back, endpoint in enumerate((one, two, two), start=1):
        await world.add_run(endpoint, now - seconds(back))

    async def runs(**asked: str) -> int:
        buckets = (await world.read("/activity", **asked))["buckets"]
        return sum(sum(bucket["counts"].values()) for bucket in buckets)

    assert await runs() == await runs(job_id=str(world.ours.job_id)) == 3
    assert await runs(endpoint_id=str(two.id)) == 2
    other_job = await world.post("/jobs", {"name": "another"})
    assert await runs(job_id=other_job["id"], endpoint_id=str(two.id)) == 0
    for asked in ({"job_id": str(world.theirs.job_id)}, {"endpoint_id": str(uuid4())}):
        assert (await world.get("/activity", **asked)).status_code == 404


async def test_what_is_too_much_to_count_says_from_when_on_it_is_whole(
    world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (memory_activity, postgres_activity):
        monkeypatch.setattr(module, "MOST_RUNS", 2)
    endpoint, now = await world.add_endpoint(), await world.now()
    for back in (1, 2, 3):
        await world.add_run(endpoint, now - minutes(back))
    activity = await world.read("/activity")
    assert activity["known_from"] == iso(now - minutes(2))
    (strip,) = (await world.read("/activity/jobs", job_id=str(world.ours.job_id)))["items"]
    assert strip["known_from"] == iso(now - minutes(2))


async def test_each_job_of_a_page_has_a_strip_of_its_last_hour(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.add_run(endpoint, now - minutes(2), status="failure")
    await world.add_run(endpoint, now - minutes(90))
    foreign = await world.add_endpoint("foreign", world.theirs)
    await world.add_run(foreign, now - minutes(2))
    jobs = [str(world.ours.job_id), str(world.theirs.job_id)]
    (strip,) = (await world.read("/activity/jobs", job_id=jobs))["items"]
    (bucket,) = strip["buckets"]
    assert (strip["job_id"], bucket["counts"], bucket["failed"]) == (jobs[0], {"baseline": 1}, 1)
    assert strip["states"]["total"] == 1


async def test_endpoints_are_counted_by_state(world: Reading) -> None:
    now = await world.now()
    for name in ("calm", "failing", "paused", "hinted", "archived"):
        endpoint = await world.add_endpoint(name, failure_count=2 if name == "failing" else 0)
        await world.plan_at(endpoint, now + minutes(5))
        if name == "paused":
            await world.post(f"/endpoints/{endpoint.id}/pause", {"reason": "x"})
        if name == "hinted":
            body = {"interval": "20s", "reason": "x"}
            await world.post(f"/endpoints/{endpoint.id}/hints/interval", body)
        if name == "archived":
            await world.post(f"/endpoints/{endpoint.id}/archive")
    counted = {"total": 4, "ok": 1, "failing": 1, "late": 0, "paused": 1, "hinted": 1}
    assert await world.read("/activity/states") == counted
    assert await world.read("/activity/states", job_id=str(world.ours.job_id)) == counted
    late = await world.add_endpoint("late")
    await world.plan_at(late, now - minutes(1))
    assert (await world.read("/activity/states"))["late"] == 1


async def test_planners_spending_comes_by_day(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    session = Session(
        uuid4(),
        world.ours.id,
        world.ours.job_id,
        endpoint.id,
        "llm test x",
        now,
        seconds(1),
        SessionEnd.SUBMITTED,
        tokens=100,
        cost=0.25,
    )
    others = [
        replace(session, id=uuid4(), tokens=11),
        replace(session, id=uuid4(), started_at=now - minutes(60 * 24 * 3)),
    ]
    for one in (session, *others):
        await record_analyses(world.backend.store, [one], "test")
    days = (await world.read("/activity/planner", days=10))["items"]
    assert [(day["sessions"], day["tokens"], day["cost"]) for day in days] == [
        (1, 100, 0.25),
        (2, 111, 0.5),
    ]
    assert len((await world.read("/activity/planner", days=1))["items"]) == 1
