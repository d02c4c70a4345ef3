"""Sessions, the audit log, a job's timeline, usage and quota, and whether the program can work."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from cadenza.adapters.postgres import records
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.planning import Reservation
from cadenza.application.sessions import record_analyses
from cadenza.domain.access import Scope
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.quota import OverLimit
from cadenza.domain.session import Session, SessionEnd, ToolCall
from tests.factories import FAILED, minutes, seconds
from tests.web.reading import Reading

CALL = ToolCall("propose_interval", {"interval_ms": 30000}, {"ok": True}, took_effect=True)


async def add_session(world: Reading, endpoint: Endpoint, at: datetime, **fields: Any) -> Session:
    defaults: dict[str, Any] = {"brain": "rules", "reasoning": "The queue grows."}
    defaults |= {"tool_calls": (CALL,), **fields}
    session = Session(
        id=uuid4(),
        tenant_id=endpoint.tenant_id,
        job_id=endpoint.job_id,
        endpoint_id=endpoint.id,
        started_at=at,
        duration=seconds(2),
        end=SessionEnd.SUBMITTED,
        tokens=12,
        warnings=("late",),
        **defaults,
    )
    await record_analyses(world.backend.store, [session], "test")
    return session


# --- Sessions -------------------------------------------------------------------------------


async def test_sessions_are_listed_newest_first_and_filtered(world: Reading) -> None:
    one, two = await world.add_endpoint("one"), await world.add_endpoint("two")
    now = await world.now()
    old = await add_session(world, one, now - minutes(2))
    new = await add_session(world, two, now, brain="llm", reasoning="It is 100 % fine_")

    async def ids(**asked: object) -> list[str]:
        return [session["id"] for session in await world.all_pages("/sessions", limit=1, **asked)]

    assert await ids() == [str(new.id), str(old.id)]
    assert await ids(endpoint_id=str(one.id)) == [str(old.id)]
    assert await ids(job_id=str(world.ours.job_id)) == [str(new.id), str(old.id)]
    assert await ids(job_id=str(uuid4())) == []
    assert await ids(brain="llm") == [str(new.id)]
    assert await ids(search="QUEUE") == [str(old.id)]
    assert await ids(search="100 % fine_") == [str(new.id)]
    assert await ids(search="fineX") == []
    assert await ids(to=now.isoformat()) == [str(old.id)]


async def test_a_rare_word_is_found_over_short_pages(
    postgres_world: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = postgres_world
    monkeypatch.setattr(records, "SESSION_STEPS", (1,))
    endpoint, now = await world.add_endpoint(), await world.now()
    rare = await add_session(world, endpoint, now - minutes(9), reasoning="needle")
    for back in range(8):
        await add_session(world, endpoint, now - minutes(back))
    first = await world.read("/sessions", search="needle", limit=1)
    assert first["items"] == []
    sessions = await world.all_pages("/sessions", search="needle", limit=1)
    assert [session["id"] for session in sessions] == [str(rare.id)]


async def test_a_session_in_full_has_its_calls(world: Reading) -> None:
    session = await add_session(world, await world.add_endpoint(), await world.now())
    full = await world.read(f"/sessions/{session.id}")
    assert full["tool_calls"][0] == {
        "tool": "propose_interval",
        "arguments": {"interval_ms": 30000},
        "result": {"ok": True},
        "took_effect": True,
        "suggested": False,
        "open_until": None,
        "accepted_by": None,
        "dismissed_by": None,
        "refusal": None,
    }
    assert full["warnings"] == ["late"]
    assert full["duration_ms"] == 2000


async def test_another_tenants_sessions_are_nowhere(world: Reading) -> None:
    endpoint = await world.add_endpoint(tenancy=world.theirs)
    session = await add_session(world, endpoint, await world.now())
    assert (await world.read("/sessions"))["items"] == []
    assert (await world.read("/sessions", endpoint_id=str(endpoint.id)))["items"] == []
    assert (await world.get(f"/sessions/{session.id}")).status_code == 404
    assert (await world.get(f"/sessions/{session.id}", world.theirs)).status_code == 200


# --- Audit ----------------------------------------------------------------------------------


async def test_who_did_what_is_found_by_each_of_its_sides(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.post(f"/endpoints/{endpoint.id}/pause", {"reason": "deploy"})
    await world.post(f"/jobs/{world.ours.job_id}/pause", {})
    begun = await world.now()

    async def actions(**asked: object) -> list[str]:
        return [entry["action"] for entry in await world.all_pages("/audit", limit=1, **asked)]

    assert (await actions())[:2] == ["job.pause", "endpoint.pause"]
    assert await actions(action="endpoint.pause") == ["endpoint.pause"]
    assert (await actions(subject=str(endpoint.id)))[0] == "endpoint.pause"
    assert await actions(actor="USER ann") == ["job.pause", "endpoint.pause"]
    assert await actions(**{"from": begun.isoformat()}) == []
    assert len(await actions(to=begun.isoformat())) == len(await actions())
    (entry,) = (await world.read("/audit", action="endpoint.pause"))["items"]
    assert entry["data"]["reason"] == "deploy"
    assert entry["subject"] == str(endpoint.id)


async def test_the_audit_log_is_for_admins_and_of_their_tenant(world: Reading) -> None:
    await world.post(f"/jobs/{world.theirs.job_id}/pause", {}, tenancy=world.theirs)
    assert (await world.read("/audit", action="job.pause"))["items"] == []
    for scope in (Scope.READ, Scope.OPERATE):
        key = await world.add_key(world.ours, scope)
        assert (await world.get("/audit", key)).status_code == 403


# --- Timeline -------------------------------------------------------------------------------


async def test_a_timeline_merges_runs_actions_and_sessions(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.add_run(endpoint, now - minutes(3))
    await add_session(world, endpoint, now - minutes(2))
    await world.add_run(endpoint, now - minutes(1))
    await world.post(f"/endpoints/{endpoint.id}/pause", {})
    await world.post(f"/jobs/{world.ours.job_id}/pause", {})
    path = f"/jobs/{world.ours.job_id}/timeline"
    expected = ["act", "act", "run", "session", "run"]
    for limit in (1, 2, 50):
        listed = await world.all_pages(path, limit=limit)
        assert [item["kind"] for item in listed] == expected
        assert [item["at"] for item in listed] == sorted((e["at"] for e in listed), reverse=True)
    assert listed[0]["act"]["action"] == "job.pause"
    assert listed[3]["session"]["brain"] == "rules"
    span = {"from": (now - minutes(2)).isoformat(), "to": now.isoformat()}
    assert [item["kind"] for item in await world.all_pages(path, **span)] == ["run", "session"]


async def test_a_timeline_counts_what_a_model_was_refused_again_and_keeps_each_session(
    world: Reading,
) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    refused = replace(CALL, took_effect=False, result={"ok": False}, refusal="too-many-changes")
    for minute in range(40, 0, -5):
        await world.add_run(endpoint, now - minutes(minute) - seconds(1))
        calls = (replace(refused, arguments={"interval_ms": 1000 * minute}),)
        if minute == 20:
            calls = (CALL,)
        fields = {"brain": "llm", "tool_calls": calls, "cost": 0.5}
        await add_session(world, endpoint, now - minutes(minute), **fields)
    listed = await world.all_pages(f"/jobs/{world.ours.job_id}/timeline", limit=50)
    sessions = [item["session"] for item in listed if item["kind"] == "session"]
    assert [(each["repeats"], each["tokens"], each["cost"]) for each in sessions] == [
        (2, 36, 1.5),
        (0, 12, 0.5),
        (3, 48, 2.0),
    ]
    assert [item["at"] for item in listed] == sorted((e["at"] for e in listed), reverse=True)
    assert len(await world.all_pages("/sessions", limit=50)) == 8


async def test_a_timeline_knows_nothing_of_other_jobs_and_tenants(world: Reading) -> None:
    path = f"/jobs/{world.theirs.job_id}/timeline"
    assert (await world.get(path)).status_code == 404
    other = await world.post("/jobs", {"name": "other"})
    await world.add_run(await world.add_endpoint(), await world.now())
    kinds = [item["kind"] for item in await world.all_pages(f"/jobs/{other['id']}/timeline")]
    assert kinds == ["act"]


# --- Usage and quota ------------------------------------------------------------------------


async def test_a_new_tenant_has_used_nothing(world: Reading) -> None:
    usage = await world.read("/tenant/usage")
    assert (usage["jobs"], usage["endpoints"], usage["tokens_this_month"]) == (1, 0, 0)
    assert usage["last_day"]["success"] == usage["last_hour"]["failure"] == 0
    assert await world.read("/tenant/quota") | {"month": ""} == {
        "month": "",
        "token_limit": 5_000_000,
        "used": 0,
        "reserved": 0,
        "left": 5_000_000,
        "cost_limit": 20,
        "cost_used": 0,
        "cost_reserved": 0,
        "cost_left": 20,
        "refused_at": None,
    }


async def test_a_tenant_over_its_quota_sees_since_when_and_of_what(world: Reading) -> None:
    job = Job(world.ours.job_id, world.ours.id, "ours")
    small = world.backend.quotas(1000, 2.0)
    reservation = await small.reserve(job, 600, 1.5)
    assert isinstance(reservation, Reservation)
    await small.settle(reservation, 500, 1.5)
    quota = await world.read("/tenant/quota")
    assert (quota["used"], quota["cost_used"], quota["cost_left"]) == (500, 1.5, 18.5)
    assert quota["refused_at"] is None
    over = await small.reserve(job, 100, 0.6)
    assert isinstance(over, OverLimit)
    assert over.limit_name == "money_per_month"
    refused_at = (await world.read("/tenant/quota"))["refused_at"]
    assert refused_at is not None
    assert isinstance(await small.reserve(job, 100, 0.6), OverLimit)
    assert (await world.read("/tenant/quota"))["refused_at"] == refused_at
    assert (await world.read("/tenant/quota", world.theirs))["refused_at"] is None


async def test_a_limit_that_was_changed_counts_from_the_next_session_on(world: Reading) -> None:
    job = Job(world.ours.job_id, world.ours.id, "ours")
    assert isinstance(await world.backend.quotas(50).reserve(job, 60), OverLimit)
    assert (await world.read("/tenant/quota"))["refused_at"] is not None
    assert isinstance(await world.backend.quotas(100).reserve(job, 60), Reservation)
    quota = await world.read("/tenant/quota")
    assert (quota["reserved"], quota["refused_at"]) == (60, None)
    assert isinstance(await world.backend.quotas(70).reserve(job, 20), OverLimit)
    assert (await world.read("/tenant/quota"))["refused_at"] is not None


async def test_usage_counts_by_status_and_time(world: Reading) -> None:
    endpoint, now = await world.add_endpoint(), await world.now()
    await world.finish_run(endpoint)
    await world.finish_run(endpoint, FAILED)
    await world.add_run(endpoint, now - timedelta(hours=3))
    await world.add_run(endpoint, now - timedelta(hours=30))
    await world.add_run(await world.add_endpoint("x", tenancy=world.theirs), now)
    usage = await world.read("/tenant/usage")
    assert usage["endpoints"] == 1
    assert (usage["last_hour"]["success"], usage["last_hour"]["failure"]) == (1, 1)
    assert (usage["last_day"]["success"], usage["last_day"]["failure"]) == (2, 1)


async def test_what_runs_now_is_counted_as_running(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.make_due(endpoint)
    await world.backend.queue.claim_due(ClaimRequest("test", 1, seconds(30)))
    usage = await world.read("/tenant/usage")
    assert (usage["last_hour"]["running"], usage["last_day"]["success"]) == (1, 0)


async def test_quota_tells_what_is_left(world: Reading) -> None:
    quota = world.backend.quotas(tokens_per_month=1000)
    job = Job(world.ours.job_id, world.ours.id, "ours")
    reservation = await quota.reserve(job, 300)
    assert isinstance(reservation, Reservation)
    await quota.settle(reservation, 120)
    await quota.reserve(job, 80)
    today = await world.read(f"/jobs/{job.id}/quota")
    assert (today["used"], today["reserved"], today["left"]) == (120, 80, 499_800)
    left = await world.read("/tenant/quota")
    assert (left["used"], left["reserved"], left["left"]) == (120, 80, 4_999_800)
    assert (await world.read("/tenant/usage"))["tokens_this_month"] == 120
    assert (await world.read("/tenant/quota", world.theirs))["used"] == 0


# --- Probes ---------------------------------------------------------------------------------


async def test_a_program_that_can_work_says_so_without_a_key(world: Reading) -> None:
    assert (await world.client.get("/healthz")).json() == {"alive": True}
    ready = await world.client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"ready": True, "parts": {"database": "ok", "schema": "ok"}}


async def test_a_schema_that_is_not_current_is_not_ready(postgres_world: Reading) -> None:
    world = postgres_world
    await world.postgres.execute("DELETE FROM schema_migrations WHERE number = 3")
    ready = await world.client.get("/readyz")
    assert ready.status_code == 503
    assert "0003 api" in ready.json()["parts"]["schema"]
    assert (await world.client.get("/healthz")).status_code == 200


async def test_without_its_database_it_lives_and_is_not_ready(postgres_world: Reading) -> None:
    world = postgres_world
    await world.postgres.database.close()
    ready = await world.client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["parts"] == {"database": "it does not answer", "schema": "not known"}
    assert (await world.client.get("/healthz")).status_code == 200
