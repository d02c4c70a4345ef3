"""Runs, as their owners look for them: pages, filters, one in full, health."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from cadenza.adapters.postgres import run_reads
from tests.factories import FAILED, OK, minutes, seconds
from tests.web.reading import Reading

# --- Lists ----------------------------------------------------------------------------------


async def test_a_tenant_without_runs_sees_an_empty_page(world: Reading) -> None:
    assert await world.read("/runs") == {"items": [], "next": None}


async def test_the_newest_slot_comes_first_and_without_what_was_answered(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    older = await world.add_run(endpoint, now - minutes(2), body={"a": 1})
    newer = await world.add_run(endpoint, now - minutes(1))
    items = (await world.read("/runs"))["items"]
    assert [run["id"] for run in items] == [str(newer), str(older)]
    assert items[0]["duration_ms"] == 1000
    assert not {"body", "plan"} & items[1].keys()


async def test_pages_hold_every_run_once_also_where_slots_are_the_same(world: Reading) -> None:
    now = await world.now()
    expected = set()
    for number in range(7):
        endpoint = await world.add_endpoint(f"probe {number}")
        expected |= {
            str(await world.add_run(endpoint, now - minutes(back)))
            for back in (1, 2, 2 + number)
            if number or back < 2
        }
    listed = [run["id"] for run in await world.all_pages("/runs", limit=2)]
    assert len(listed) == len(set(listed))
    assert set(listed) == expected


async def test_a_run_that_comes_between_two_pages_shifts_nothing(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    runs = [str(await world.add_run(endpoint, now - minutes(back))) for back in range(4)]
    first = await world.read("/runs", limit=2)
    await world.add_run(endpoint, now + minutes(1))
    second = await world.read("/runs", limit=2, cursor=first["next"])
    assert [run["id"] for run in first["items"] + second["items"]] == runs


async def test_filters_narrow_it_down(world: Reading) -> None:
    one, two = await world.add_endpoint("one"), await world.add_endpoint("two")
    now = await world.now()
    await world.add_run(one, now - minutes(1), status="failure", source="ai-interval")
    await world.add_run(one, now - minutes(2), status="timeout")
    await world.add_run(one, now - minutes(3), is_manual=True, source="manual")
    await world.add_run(two, now - minutes(4))

    async def count(**asked: object) -> int:
        return len((await world.read("/runs", **asked))["items"])

    assert await count() == 4
    assert await count(endpoint_id=str(one.id)) == 3
    assert await count(job_id=str(world.ours.job_id)) == 4
    assert await count(job_id=str(world.ours.job_id), endpoint_id=str(two.id)) == 1
    assert await count(status="failure") == 1
    assert await count(status=["failure", "timeout"]) == 2
    assert await count(source="ai-interval") == 1
    assert await count(is_manual=True) == 1
    assert await count(endpoint_id=str(two.id), status="failure") == 0
    assert await count(**{"from": (now - minutes(2)).isoformat()}) == 2
    assert await count(to=(now - minutes(2)).isoformat()) == 2


async def test_of_a_job_with_many_endpoints_each_run_is_found(
    world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_reads, "FEW_ENDPOINTS", 1)
    now = await world.now()
    for name in ("one", "two"):
        await world.add_run(await world.add_endpoint(name), now - minutes(1))
    listed = await world.all_pages("/runs", job_id=str(world.ours.job_id), limit=1)
    assert len(listed) == 2


async def test_a_rare_match_is_found_over_several_short_pages(
    postgres_world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = postgres_world
    monkeypatch.setattr(run_reads, "STEPS", (2, 3))
    endpoint, now = await world.add_endpoint(), await world.now()
    rare = await world.add_run(endpoint, now - minutes(12), source="ai-oneshot")
    for back in range(12):
        await world.add_run(endpoint, now - minutes(back))
    page = await world.read("/runs", source="ai-oneshot", limit=1)
    assert page["items"] == []
    assert page["next"] is not None
    for asked in ({}, {"endpoint_id": str(endpoint.id)}):
        runs = await world.all_pages("/runs", source="ai-oneshot", limit=1, **asked)
        assert [run["id"] for run in runs] == [str(rare)]


async def test_runs_that_failed_are_found_among_many_at_once(
    world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_reads, "STEPS", (2, 3))
    endpoint, now = await world.add_endpoint(), await world.now()
    for back, status in ((12, "failure"), (11, "timeout"), (9, "cancelled")):
        await world.add_run(endpoint, now - minutes(back), status=status)
    for back in range(8):
        await world.add_run(endpoint, now - minutes(back))
    for asked in ({}, {"endpoint_id": str(endpoint.id)}, {"job_id": str(world.ours.job_id)}):
        page = await world.read("/runs", status=["failure", "timeout"], limit=2, **asked)
        assert [run["status"] for run in page["items"]] == ["timeout", "failure"]
        assert page["next"] is None


async def test_another_tenants_runs_are_nowhere(world: Reading) -> None:
    endpoint = await world.add_endpoint(tenancy=world.theirs)
    run_id = await world.add_run(endpoint, await world.now())
    assert (await world.read("/runs"))["items"] == []
    assert (await world.read("/runs", endpoint_id=str(endpoint.id)))["items"] == []
    assert (await world.read("/runs", job_id=str(world.theirs.job_id)))["items"] == []
    for path in (f"/runs/{run_id}", f"/endpoints/{endpoint.id}/health"):
        assert (await world.get(path)).status_code == 404
        assert (await world.get(path, world.theirs)).status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("endpoint_id", "probe"),
        ("job_id", ""),
        ("status", "broken"),
        ("source", "magic"),
        ("from", "yesterday"),
        ("to", "2026-03-01T12:00:00"),
        ("is_manual", "perhaps"),
        ("limit", "0"),
        ("limit", "201"),
        ("cursor", "x"),
        ("cursor", "WyJhIiwgImIiXQ"),
        ("cursor", "WyIxIiwgIjAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMCJd"),
        ("wrong", "1"),
    ],
)
async def test_what_cannot_be_meant_is_named(world: Reading, field: str, value: str) -> None:
    answer = await world.get("/runs", **{field: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].startswith(field)


async def test_a_time_that_ends_before_it_begins_is_refused(world: Reading) -> None:
    asked = {"from": "2026-03-02T00:00:00Z", "to": "2026-03-01T00:00:00Z"}
    answer = await world.get("/runs", **asked)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "to"


# --- One run --------------------------------------------------------------------------------


async def test_a_run_in_full_has_its_plan_and_its_answer(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.finish_run(endpoint)
    await world.finish_run(endpoint, FAILED)
    (run, _) = (await world.read("/runs"))["items"]
    full = await world.read(f"/runs/{run['id']}")
    assert full["status"] == "failure"
    assert full["status_code"] == 500
    assert full["error_message"] == "HTTP 500"
    assert full["plan"]["winner"] == "baseline-interval"
    assert full["plan"]["candidates"]
    assert full["lost_attempts"] == full["late_results"] == []
    assert run.items() <= full.items()


async def test_lost_attempts_and_late_results_are_told(world: Reading) -> None:
    await world.make_due(await world.add_endpoint())
    text = replace(FAILED, body="text")
    run_id = await world.backend.run_with_a_lost_attempt(OK, text)
    full = await world.read(f"/runs/{run_id}")
    assert [attempt["attempt"] for attempt in full["lost_attempts"]] == [1]
    assert [result["status"] for result in full["late_results"]] == ["success"]
    assert full["body"] == "text"


async def test_a_run_that_is_not_there_is_not_found(world: Reading) -> None:
    assert (await world.get(f"/runs/{uuid4()}")).status_code == 404
    assert (await world.get("/runs/1")).status_code == 422


# --- Health ---------------------------------------------------------------------------------


async def test_no_runs_is_not_a_rate_of_zero(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    health = await world.read(f"/endpoints/{endpoint.id}/health")
    assert [window["success_rate"] for window in health["windows"]] == [None, None, None]
    assert health["mean_duration_ms"] is None


async def test_each_window_counts_its_own_runs(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    for hours, status in ((0.5, "success"), (2, "failure"), (10, "failure"), (30, "failure")):
        await world.add_run(endpoint, now - timedelta(hours=hours), status=status)
    await world.add_run(endpoint, now - seconds(5), status="cancelled")
    health = await world.read(f"/endpoints/{endpoint.id}/health")
    assert [window["hours"] for window in health["windows"]] == [1, 4, 24]
    assert [window["runs"] for window in health["windows"]] == [1, 2, 3]
    assert [window["success_rate"] for window in health["windows"]] == [
        1,
        0.5,
        pytest.approx(1 / 3),
    ]
    assert health["mean_duration_ms"] == 1000
