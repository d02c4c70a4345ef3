"""The planner stopped everywhere with one call, and started again with exactly what was."""

from typing import Any

from tests.web.support import House, Site

OFF = {"rules": "off", "detectors": "off", "llm": "off"}


async def modes_of(tenant: House, job: dict[str, Any]) -> tuple[Any, Any, Any]:
    planner = (await tenant.done("GET", f"/jobs/{job['id']}"))["planner"]
    return planner["rules"], planner["detectors"], planner["llm"]


async def test_a_stop_is_kept_as_data_and_a_start_gives_back_exactly_what_was(site: Site) -> None:
    own = await site.ours.job("own", planner={"llm": "act", "rules": "off"})
    usual = await site.ours.job("usual")
    await site.ours.done("PATCH", "/tenant", {"llm_mode": "act", "rules_mode": "off"})
    before = await site.ours.done("GET", "/planner")
    assert before["stop"] is None
    stopped = await site.ours.done("POST", "/planner/stop", {"reason": "a strange night"})
    assert stopped["modes"] == OFF
    assert stopped["stop"]["modes"] == before["modes"]
    assert (stopped["stop"]["jobs"], stopped["stop"]["reason"]) == (1, "a strange night")
    assert stopped["stop"]["stopped_by"] == (await site.ours.done("GET", "/me"))["user_id"]
    assert await modes_of(site.ours, own) == ("off", None, "off")
    assert await modes_of(site.ours, usual) == (None, None, None)
    assert await site.ours.done("POST", "/planner/start") == before
    assert await modes_of(site.ours, own) == ("off", None, "act")


async def test_a_planner_that_was_off_before_its_stop_is_off_after_its_start(site: Site) -> None:
    modes = dict.fromkeys(("rules_mode", "detectors_mode", "llm_mode"), "off")
    await site.ours.done("PATCH", "/tenant", modes)
    await site.ours.done("POST", "/planner/stop", {})
    assert (await site.ours.done("POST", "/planner/start"))["modes"] == OFF


async def test_a_second_stop_forgets_nothing_of_the_first(site: Site) -> None:
    one = await site.ours.job("one", planner={"llm": "act"})
    two = await site.ours.job("two", planner={"rules": "advise", "llm": "advise"})
    first = await site.ours.done("POST", "/planner/stop", {"reason": "first"})
    await site.ours.done("PATCH", f"/jobs/{two['id']}", {"planner": {"rules": "act"}})
    await site.ours.done("PATCH", "/tenant", {"detectors_mode": "advise"})
    second = await site.ours.done("POST", "/planner/stop", {"reason": "second"})
    assert second["stop"]["stopped_at"] == first["stop"]["stopped_at"]
    assert second["stop"]["reason"] == "first"
    started = await site.ours.done("POST", "/planner/start")
    assert started["modes"] == {"rules": "act", "detectors": "advise", "llm": "advise"}
    assert await modes_of(site.ours, one) == (None, None, "act")
    assert (await modes_of(site.ours, two))[0] == "act"


async def test_starting_what_is_not_stopped_changes_nothing(site: Site) -> None:
    before = await site.ours.done("GET", "/planner")
    assert await site.ours.done("POST", "/planner/start") == before
    entries = await site.ours.done("GET", "/audit?action=planner.start")
    assert entries["items"] == []


async def test_the_installation_stops_and_starts_every_tenant_but_not_who_stopped_their_own(
    site: Site,
) -> None:
    own = await site.theirs.job("own", planner={"llm": "act"})
    await site.ours.done("POST", "/planner/stop", {"reason": "ours"})
    path = "/installation/planner"
    stopped = (await site.admin("POST", f"{path}/stop", json={"reason": "all"})).json()
    assert stopped == {"tenants": 2, "jobs": 1}
    theirs = (await site.theirs.done("GET", "/planner"))["stop"]
    assert (theirs["stopped_by"], theirs["reason"]) == (None, "all")
    assert (await site.admin("POST", f"{path}/start")).json() == {"tenants": 1, "jobs": 1}
    assert (await site.theirs.done("GET", "/planner"))["stop"] is None
    assert await modes_of(site.theirs, own) == (None, None, "act")
    assert (await site.ours.done("GET", "/planner"))["stop"]["reason"] == "ours"


async def test_only_an_admin_stops_the_planner(site: Site) -> None:
    made = await site.ours.done("POST", "/keys", {"name": "robot", "scopes": ["operate"]})
    headers = {"Authorization": f"Bearer {made['key']}"}
    for path in ("/planner/stop", "/installation/planner/stop"):
        answer = await site.ours.ask("POST", path, json={}, headers=headers)
        assert answer.status_code in (401, 403), path
    assert (await site.ours.done("GET", "/planner"))["stop"] is None


async def test_a_reason_has_an_end(site: Site) -> None:
    answer = await site.ours.ask("POST", "/planner/stop", json={"reason": "x" * 501})
    assert answer.status_code == 422
    assert "reason" in answer.text
