"""Whose hint chose a run, and who ran one by hand: in lists, on its page, and in the score."""

from typing import Any

from tests.factories import minutes, seconds
from tests.web.html_pages import browser, signed_in
from tests.web.reading import Reading
from tests.web.support import Site


async def run_of(world: Reading, **fields: Any) -> dict[str, Any]:
    """The newest of the list."""
    return (await world.read("/runs", **fields))["items"][0]


async def test_a_run_by_hand_names_who_asked_for_it(world: Reading) -> None:
    endpoint = await world.add_endpoint()
    await world.post(f"/endpoints/{endpoint.id}/run", None)
    await world.finish_run(endpoint)
    me = await world.read("/me")
    run = await run_of(world, endpoint_id=endpoint.id)
    assert run["is_manual"]
    assert run["asked_by"]["kind"] == "person"
    assert run["asked_by"]["user_id"] == me["user_id"]
    assert run["asked_by"]["name"] == me["user_name"]
    in_full = await world.read(f"/runs/{run['id']}")
    assert in_full["asked_by"] == run["asked_by"]
    score = await world.read(f"/jobs/{endpoint.job_id}/score")
    (drawn,) = score["lanes"][0]["runs"]
    assert drawn["asked_by"] == me["user_name"]


async def test_a_run_of_a_hint_names_whose_it_was_and_one_of_the_baseline_nobody(
    world: Reading,
) -> None:
    endpoint = await world.add_endpoint()
    await world.finish_run(endpoint)
    assert (await run_of(world, endpoint_id=endpoint.id))["asked_by"] is None
    body = {"interval": "20s", "ttl": "10m", "reason": "an incident"}
    await world.post(f"/endpoints/{endpoint.id}/hints/interval", body)
    slot_at = await world.now() + seconds(20)
    await world.add_run(endpoint, slot_at, source="ai-interval")
    author = (await run_of(world, endpoint_id=endpoint.id))["asked_by"]
    assert (author["kind"], author["reason"]) == ("person", "an incident")
    assert author["name"] == (await world.read("/me"))["user_name"]
    await world.add_run(endpoint, slot_at + minutes(60), source="ai-interval")
    assert (await run_of(world, endpoint_id=endpoint.id))["asked_by"] is None  # none in force then


async def test_lists_of_runs_say_you_and_others_by_name(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
    assert await site.backend.run_due() == 1
    visitor = await signed_in(site, site.ours)
    for path in ("/", "/runs", f"/endpoints/{endpoint['id']}"):
        assert "By hand, you" in (await visitor.open(path)).text, path
    bob = await site.admin("POST", f"/tenants/{site.ours.tenant_id}/users", json={"name": "bob"})
    path = f"/tenants/{site.ours.tenant_id}/users/{bob.json()['id']}/keys"
    key = (await site.admin("POST", path, json={"name": "k", "scopes": ["read"]})).json()["key"]
    other = browser(site)
    await other.sign_in(key)
    assert "By hand, ada of ours" in (await other.open("/runs")).text
    (run,) = (await site.ours.done("GET", "/runs"))["items"]
    assert "ada of ours started this run by hand" in (await other.open(f"/runs/{run['id']}")).text
