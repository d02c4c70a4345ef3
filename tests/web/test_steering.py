"""Steering by hand: hints, pauses, run now, reset, and a look by the planner."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.domain import steering
from cadenza.domain.analysis import Attention
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import Refused
from cadenza.domain.hint import Author, IntervalHint
from tests.web.support import Site


async def _steer(site: Site, made: dict[str, Any], action: str, **body: Any) -> dict[str, Any]:
    method = "DELETE" if action == "hints" else "POST"
    takes_body = action in ("pause", "hints/interval", "hints/one-shot")
    return await site.ours.done(
        method, f"/endpoints/{made['id']}/{action}", body if takes_body else None
    )


def _at(endpoint: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(endpoint["next_run_at"])


async def _planner_suggests(site: Site, made: dict[str, Any], minutes: int) -> None:
    def suggest(endpoint: Endpoint, now: datetime, cron: Any) -> Endpoint:
        interval = timedelta(minutes=minutes)
        hint = IntervalHint(interval, now + timedelta(hours=1), Author.PLANNER, "because")
        return steering.suggest_interval(endpoint, hint, now, cron)

    endpoint_id = UUID(made["id"])
    await site.backend.direct.change_endpoint(site.ours.tenant_id, endpoint_id, suggest)


async def test_an_interval_hint_takes_the_baselines_place_until_it_is_cleared(site: Site) -> None:
    made = await site.ours.endpoint(cron="0 9 1 1 *")
    hinted = await _steer(site, made, "hints/interval", interval="2m", ttl="1h", reason="a sale")
    (hint,) = hinted["hints"]
    assert (hint["kind"], hint["interval_ms"]) == ("interval", 120_000)
    assert (hint["author"], hint["reason"]) == ("person", "a sale")
    assert hinted["next_source"] == "ai-interval"
    assert _at(hinted) - await site.now() <= timedelta(minutes=2)
    cleared = await _steer(site, made, "hints")
    assert (cleared["hints"], cleared["next_source"]) == ([], "baseline-cron")


async def test_a_one_shot_runs_once_and_the_baseline_returns(site: Site) -> None:
    made = await site.ours.endpoint(cron="0 9 1 1 *")
    hinted = await _steer(site, made, "hints/one-shot", **{"in": "10m"})
    assert hinted["next_source"] == "ai-oneshot"
    query = {"action": "endpoint.hint.one-shot"}
    (entry,) = (await site.ours.done("GET", "/audit", params=query))["items"]
    assert entry["data"] == {"at": "10m", "ttl": "30 min", "reason": ""}
    assert timedelta(minutes=9) < _at(hinted) - await site.now() <= timedelta(minutes=10)
    endpoint = await site.ours.done("GET", f"/endpoints/{made['id']}")
    assert [run["source"] for run in endpoint["next_runs"][:2]] == ["ai-oneshot", "baseline-cron"]


async def test_a_one_shot_in_the_past_is_due_now(site: Site) -> None:
    made = await site.ours.endpoint(on_demand=True)
    hinted = await _steer(site, made, "hints/one-shot", at="2020-01-01T00:00:00Z")
    assert abs(_at(hinted) - await site.now()) < timedelta(seconds=10)


async def test_a_persons_hint_takes_the_place_of_the_planners_and_not_the_other_way(
    site: Site,
) -> None:
    made = await site.ours.endpoint(cron="0 9 1 1 *")
    await _planner_suggests(site, made, 10)
    hinted = await _steer(site, made, "hints/interval", interval="3m")
    assert [(hint["author"], hint["interval_ms"]) for hint in hinted["hints"]] == [
        ("person", 180_000)
    ]
    with pytest.raises(Refused):
        await _planner_suggests(site, made, 1)


@pytest.mark.parametrize(
    ("action", "body", "field"),
    [
        ("hints/interval", {"interval": "999ms"}, "interval"),
        ("hints/interval", {"interval": "31d"}, "interval"),
        ("hints/interval", {"interval": "5m", "ttl": "59s"}, "ttl"),
        ("hints/interval", {"interval": "5m", "ttl": "8d"}, "ttl"),
        ("hints/one-shot", {}, "at"),
        ("hints/one-shot", {"at": "2099-01-01T00:00:00Z", "in": "5m"}, "at"),
        ("hints/one-shot", {"in": "5m", "ttl": "8d"}, "ttl"),
    ],
)
async def test_a_hint_beyond_its_bounds_is_refused_by_its_field(
    site: Site, action: str, body: dict[str, Any], field: str
) -> None:
    made = await site.ours.endpoint()
    answer = await site.ours.ask("POST", f"/endpoints/{made['id']}/{action}", json=body)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    if field != "at":  # which is about two fields
        assert error["value"] == repr(body[field])


async def test_a_one_shot_as_far_away_as_a_request_can_say_does_not_break(site: Site) -> None:
    made = await site.ours.endpoint(on_demand=True)
    for body in ({"at": "9998-12-31T23:59:59Z"}, {"in": "366000d"}, {"in": 31_622_400_000}):
        path = f"/endpoints/{made['id']}/hints/one-shot"
        answer = await site.ours.ask("POST", path, json=body)
        assert answer.status_code in (200, 409, 422), answer.text
        reread = await site.ours.ask("GET", f"/endpoints/{made['id']}")
        assert reread.status_code == 200, reread.text


async def test_a_pause_holds_until_it_is_lifted(site: Site) -> None:
    made = await site.ours.endpoint()
    paused = await _steer(site, made, "pause", reason="a move")
    assert paused["next_run_at"] is None
    assert paused["pauses"] == [{"by": "person", "until": None, "reason": "a move"}]
    resumed = await _steer(site, made, "resume")
    assert (resumed["pauses"], resumed["next_source"]) == ([], "resumed")
    assert _at(resumed) <= await site.now() + timedelta(seconds=1)


async def test_to_resume_what_is_not_paused_changes_nothing(site: Site) -> None:
    made = await site.ours.endpoint(cron="0 9 1 1 *")
    resumed = await _steer(site, made, "resume")
    assert resumed["next_run_at"] == made["next_run_at"]
    entries = (await site.ours.done("GET", "/audit"))["items"]
    actions = [entry["action"] for entry in entries if entry["action"].startswith("endpoint.")]
    assert actions == ["endpoint.create"]


async def test_a_jobs_pause_is_not_lifted_at_the_endpoint(site: Site) -> None:
    job = await site.ours.job()
    made = await site.ours.endpoint(job)
    await site.ours.done("POST", f"/jobs/{job['id']}/pause", {})
    resumed = await _steer(site, made, "resume")
    assert [pause["by"] for pause in resumed["pauses"]] == ["job"]
    assert resumed["next_run_at"] is None


async def test_a_run_now_waits_for_a_worker_and_a_second_one_is_refused(site: Site) -> None:
    made = await site.ours.endpoint(on_demand=True)
    path = f"/endpoints/{made['id']}/run"
    asked = await site.ours.ask("POST", path)
    assert asked.status_code == 202
    assert asked.json()["endpoint_id"] == made["id"]
    again = await site.ours.ask("POST", path)
    assert again.status_code == 409
    assert "in flight" in again.json()["detail"]


async def test_forgotten_failures_take_the_back_off_with_them(site: Site) -> None:
    made = await site.ours.endpoint(every="1h")
    now = await site.now()
    await site.backend.change_endpoint(
        site.ours.tenant_id,
        UUID(made["id"]),
        failure_count=5,
        last_run_at=now,
        next_run_at=now + timedelta(hours=32),
    )
    reset = await _steer(site, made, "reset-failures")
    assert reset["failure_count"] == 0
    assert _at(reset) - await site.now() <= timedelta(hours=1)


async def test_a_look_by_the_planner_can_be_asked_for(site: Site) -> None:
    made = await site.ours.endpoint()
    answer = await site.ours.ask("POST", f"/endpoints/{made['id']}/analyse")
    assert answer.status_code == 202
    request = AnalysisRequest("rules", Attention.OWN_RUNS, "test", 10, timedelta(minutes=1))
    claimed = await site.backend.stores.analysis_queue.claim_for_analysis(request)
    assert [str(endpoint_id) for endpoint_id in claimed] == [made["id"]]


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("pause", {}),
        ("resume", None),
        ("run", None),
        ("reset-failures", None),
        ("hints/interval", {"interval": "5m"}),
        ("hints/one-shot", {"in": "5m"}),
        ("analyse", None),
    ],
)
async def test_what_is_archived_is_steered_no_more(
    site: Site, action: str, body: dict[str, Any] | None
) -> None:
    made = await site.ours.endpoint()
    await site.ours.done("POST", f"/endpoints/{made['id']}/archive")
    before = (await site.contents())["endpoints"]
    content = {} if body is None else {"json": body}
    answer = await site.ours.ask("POST", f"/endpoints/{made['id']}/{action}", **content)
    assert answer.status_code == 409, answer.text
    assert (await site.contents())["endpoints"] == before
