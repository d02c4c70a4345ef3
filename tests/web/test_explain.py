"""What lies ahead of an endpoint, over the API."""

from datetime import datetime
from uuid import uuid4

import pytest

from tests.factories import FAILED
from tests.web.reading import Reading
from tests.web.support import Site


async def test_the_next_run_is_explained_with_its_record(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.finish_run(endpoint, FAILED)
    explanation = await world.read(f"/endpoints/{endpoint.id}/explain")
    assert explanation["source"] == explanation["plan"]["winner"] == "baseline-interval"
    assert explanation["plan"]["inputs"]["failure_count"] == 1
    assert explanation["plan"]["candidates"][0]["at"]
    assert any("1 failure" in sentence for sentence in explanation["because"])
    assert any(
        "A success resets the interval" in sentence for sentence in explanation["would_change"]
    )


async def test_a_hint_by_hand_shows_in_explanation_and_preview(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.finish_run(endpoint)
    body = {"interval": "20s", "ttl": "10m", "reason": "an incident"}
    await world.post(f"/endpoints/{endpoint.id}/hints/interval", body)
    explanation = await world.read(f"/endpoints/{endpoint.id}/explain")
    assert explanation["source"] == "ai-interval"
    assert "an incident" in explanation["would_change"][0]
    preview = await world.read(f"/endpoints/{endpoint.id}/preview", count=3)
    assert [run["source"] for run in preview["planned"]] == ["ai-interval"] * 3
    assert [run["source"] for run in preview["baseline"]] == ["baseline-interval"] * 3
    at = [datetime.fromisoformat(run["at"]) for run in preview["planned"]]
    assert (at[2] - at[1]).total_seconds() == 20


async def test_an_endless_pause_has_no_next_run(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.post(f"/endpoints/{endpoint.id}/pause", {})
    explanation = await world.read(f"/endpoints/{endpoint.id}/explain")
    assert explanation["next_run_at"] is None
    assert explanation["summary"] == "Paused until resumed."
    assert (await world.read(f"/endpoints/{endpoint.id}/preview"))["planned"] == []


@pytest.mark.parametrize("count", ["0", "101", "x", "-1", "1e9"])
async def test_a_preview_has_its_limits(world: Reading, count: str) -> None:
    endpoint = await world.add_endpoint()
    answer = await world.get(f"/endpoints/{endpoint.id}/preview", count=count)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "count"
    assert len((await world.read(f"/endpoints/{endpoint.id}/preview", count=100))["planned"]) == 100


async def test_another_tenants_endpoint_is_not_there(world: Reading) -> None:
    endpoint = await world.add_endpoint(tenancy=world.theirs)
    for what in ("explain", "preview", "health"):
        assert (await world.get(f"/endpoints/{endpoint.id}/{what}")).status_code == 404
        assert (await world.get(f"/endpoints/{uuid4()}/{what}")).status_code == 404


async def test_the_pause_of_a_job_is_explained_with_who_and_why(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    path = f"/jobs/{endpoint['job_id']}"
    await site.ours.done("POST", f"{path}/pause", {"reason": "moving house"})
    told = await site.ours.done("GET", f"/endpoints/{endpoint['id']}/explain")
    (sentence, *_) = told["would_change"]
    assert "moving house" in sentence
    assert "by " in sentence
    await site.ours.done("POST", f"{path}/resume")
    told = await site.ours.done("GET", f"/endpoints/{endpoint['id']}/explain")
    assert not any("moving house" in sentence for sentence in told["would_change"])
