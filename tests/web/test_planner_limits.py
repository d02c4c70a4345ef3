"""Asking for an analysis over a limit, an account for the planner, and what sessions show."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.application.sessions import record_analyses
from cadenza.domain.analysis import AnalysisReason
from cadenza.domain.billing import TokenUsage
from cadenza.domain.session import Session, SessionEnd
from tests.factories import minutes, seconds
from tests.web.html_pages import signed_in
from tests.web.support import Site


async def _analyse(site: Site, endpoint: dict[str, Any]) -> Any:
    return await site.ours.ask("POST", f"/endpoints/{endpoint['id']}/analyse")


@pytest.mark.parametrize(
    ("policy", "limit"),
    [
        ({"tokens_per_day": 10_000}, "tokens_per_day of the job"),
        ({"tokens_per_session": 6_000_000, "tokens_per_day": 0}, "tokens_per_month of the tenant"),
    ],
)
async def test_an_analysis_over_a_limit_is_refused_with_its_name(
    site: Site, policy: dict[str, Any], limit: str
) -> None:
    job = await site.ours.job("shop", planner=policy)
    answer = await _analyse(site, await site.ours.endpoint(job))
    assert answer.status_code == 409
    assert answer.json()["type"] == "/problems/limit-reached"
    assert limit in answer.json()["detail"]


async def test_a_quota_shows_the_limits_that_are_in_force_also_before_anything_was_spent(
    site: Site,
) -> None:
    quota = await site.ours.done("GET", "/tenant/quota")
    assert (quota["token_limit"], quota["cost_limit"]) == (5_000_000, 20)
    assert (quota["left"], quota["cost_left"]) == (5_000_000, 20)
    usual = await site.ours.job("usual")
    of_job = await site.ours.done("GET", f"/jobs/{usual['id']}/quota")
    assert (of_job["token_limit"], of_job["cost_limit"]) == (500_000, 2)
    own = await site.ours.job("own", planner={"tokens_per_day": 20_000, "money_per_day": 0.5})
    of_job = await site.ours.done("GET", f"/jobs/{own['id']}/quota")
    assert (of_job["token_limit"], of_job["cost_limit"]) == (20_000, 0.5)


async def test_where_no_model_may_look_no_limit_is_in_the_way(site: Site) -> None:
    policy = {"tokens_per_day": 10_000, "llm": "off"}
    job = await site.ours.job("shop", planner=policy)
    assert (await _analyse(site, await site.ours.endpoint(job))).status_code == 202


async def test_an_account_for_the_planner_is_one_of_the_tenants_own(site: Site) -> None:
    account = await site.ours.done("POST", "/accounts", {"name": "research"})
    changed = await site.ours.done("PATCH", "/tenant", {"planner_account_id": account["id"]})
    assert changed["planner_account_id"] == account["id"]
    answer = await _analyse(site, await site.ours.endpoint())
    assert (answer.status_code, answer.json()["type"]) == (402, "/problems/insufficient-credits")
    nobody = {"planner_account_id": str(uuid4())}
    answer = await site.ours.ask("PATCH", "/tenant", json=nobody)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "planner_account_id"
    changed = await site.ours.done("PATCH", "/tenant", {"planner_account_id": None})
    assert changed["planner_account_id"] is None
    assert (await _analyse(site, await site.ours.endpoint(name="other"))).status_code == 202


async def test_a_session_shows_why_it_was_held_and_what_its_tokens_were(site: Site) -> None:
    made, now = await site.ours.endpoint(), await site.now()
    session = Session(
        uuid4(),
        site.ours.tenant_id,
        UUID(made["job_id"]),
        UUID(made["id"]),
        "llm openai small",
        now,
        seconds(2),
        SessionEnd.FAILED,
        tokens=1100,
        cost=0.5,
        usage=TokenUsage(1000, 100, 400),
        reason=AnalysisReason.STREAK,
        prompt_version="2.abc",
        failed_looks=1,
        trouble="it made no sense",
        next_analysis_at=now + minutes(10),
    )
    await record_analyses(site.backend.store, [session], "test")
    shown = await site.ours.done("GET", f"/sessions/{session.id}")
    assert (shown["reason"], shown["ended_as"]) == ("failure-streak", "failed")
    split = (shown["input_tokens"], shown["cached_tokens"], shown["output_tokens"])
    assert (*split, shown["cost"], shown["account_id"]) == (1000, 400, 100, 0.5, None)
    (state,) = (await site.ours.done("GET", f"/endpoints/{made['id']}/analyses"))["items"]
    assert (state["brain"], state["failed_looks"]) == ("llm", 1)
    assert state["trouble"] == "it made no sense"
    assert shown["prompt_version"] == "2.abc"


async def _refused(site: Site, method: str, path: str, document: dict[str, Any]) -> tuple[str, ...]:
    """The only field that is wrong, its value and the fix."""
    answer = await site.ours.ask(method, path, json=document)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    return error["field"], error["value"], error["fix"]


async def test_an_account_that_nobody_has_is_refused_where_it_is_written(site: Site) -> None:
    job = await site.ours.job("shop")
    planner = {"planner": {"account": "research"}}
    document = {"version": 1, "jobs": [{"name": "first"}, {"name": "new", **planner}]}
    for method, path, body, field in (
        ("POST", "/jobs", {"name": "new", **planner}, "planner.account"),
        ("PATCH", f"/jobs/{job['id']}", planner, "planner.account"),
        ("PUT", "/manifest", document, "jobs[1].planner.account"),
    ):
        wrong, value, fix = await _refused(site, method, path, body)
        assert (wrong, value) == (field, "'research'")
        assert "cadenza accounts create" in fix
    await site.theirs.done("POST", "/accounts", {"name": "research"})  # which is not ours
    await site.ours.done("POST", "/accounts", {"name": "other"})
    *_, fix = await _refused(site, "POST", "/jobs", {"name": "new", **planner})
    assert "cadenza accounts list" in fix
    await site.ours.done("POST", "/accounts", {"name": "research"})
    changed = await site.ours.done("PATCH", f"/jobs/{job['id']}", planner)
    assert changed["planner"]["account"] == "research"
    await site.ours.done("PUT", "/manifest", document)


async def test_a_model_of_another_provider_is_refused_where_it_is_written(site: Site) -> None:
    async with site.emptied(llm_provider="anthropic", llm_model="claude-haiku-4-5") as asking:
        planner = {"planner": {"model": "gpt-4o-mini"}}
        field, value, fix = await _refused(asking, "POST", "/jobs", {"name": "shop", **planner})
        assert (field, value) == ("planner.model", "'gpt-4o-mini'")
        assert "asks anthropic: give one of anthropic's" in fix
        document = {"version": 1, "jobs": [{"name": "shop", **planner}]}
        field, *_ = await _refused(asking, "PUT", "/manifest", document)
        assert field == "jobs[0].planner.model"
        job = await asking.ours.job("shop", planner={"model": "claude-opus-4-5"})
        field, *_ = await _refused(asking, "PATCH", f"/jobs/{job['id']}", planner)
        assert field == "planner.model"
        named = {"planner": {"account": None, "model": "brand-new"}}  # anybody's, as far as we know
        await asking.ours.done("PATCH", f"/jobs/{job['id']}", named)


async def test_the_runs_that_detectors_may_add_are_told_by_job(site: Site) -> None:
    job = await site.ours.job("watched", planner={"extra_runs": 0.5})
    await site.ours.endpoint(job, "orders", every="1h")
    quota = await site.ours.done("GET", f"/jobs/{job['id']}/quota")
    # Half of the 48 runs of two days.
    assert quota["extra_runs"] == {"size": 24.0, "used": 0.0, "left": 24.0}
    idle = await site.ours.job("idle")
    quota = await site.ours.done("GET", f"/jobs/{idle['id']}/quota")
    assert quota["extra_runs"]["size"] == 0
    visitor = await signed_in(site, site.ours)
    assert "0 of 24" in (await visitor.open("/planner")).text
