"""Jobs: created, found, paged, changed, paused, resumed, archived."""

import pytest

from tests.web.support import Site


async def test_a_job_is_answered_as_it_was_made(site: Site) -> None:
    answer = await site.ours.ask("POST", "/jobs", json={"name": "shop", "description": "Orders."})
    assert answer.status_code == 201
    job = answer.json()
    assert (job["name"], job["description"], job["endpoint_count"]) == ("shop", "Orders.", 0)
    assert (job["paused"], job["archived_at"], job["revision"]) == (False, None, 1)
    assert answer.headers["etag"] == '"1"'
    assert await site.ours.done("GET", f"/jobs/{job['id']}") == job


async def test_a_name_is_taken_once_among_those_that_are_not_archived(site: Site) -> None:
    job = await site.ours.job("shop")
    answer = await site.ours.ask("POST", "/jobs", json={"name": "shop"})
    assert answer.status_code == 409
    assert answer.json()["errors"][0]["field"] == "name"
    await site.theirs.job("shop")
    await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    await site.ours.job("shop")


async def test_a_rename_to_a_name_that_is_taken_says_which(site: Site) -> None:
    await site.ours.job("shop")
    other = await site.ours.job("stock")
    answer = await site.ours.ask("PATCH", f"/jobs/{other['id']}", json={"name": "shop"})
    assert answer.status_code == 409
    assert answer.json()["errors"] == [
        {"field": "name", "value": "'shop'", "fix": "a job of that name exists; choose another"}
    ]


async def test_pages_hold_every_job_once_also_when_one_is_added_meanwhile(site: Site) -> None:
    for number in range(7):
        await site.ours.job(f"job {number}")
    names: list[str] = []
    query = {"limit": 3}
    while True:
        page = await site.ours.done("GET", "/jobs", params=query)
        names += [job["name"] for job in page["items"]]
        if page["next"] is None:
            break
        await site.ours.job(f"a job before all others {len(names)}")
        query = {"limit": 3, "cursor": page["next"]}
    assert names == [f"job {number}" for number in range(7)]


@pytest.mark.parametrize("search", ["50%", "_", "\\", "É", "sale"])
async def test_a_search_finds_a_piece_of_name_or_description_and_nothing_by_chance(
    site: Site, search: str
) -> None:
    texts = {"50%": "50% off", "_": "snake_case", "\\": "back\\slash", "É": "été", "sale": "Sales"}
    for text in texts.values():
        await site.ours.job(text)
    await site.ours.job("described", description=f"has {texts[search]} in it")
    await site.ours.job("other")
    page = await site.ours.done("GET", "/jobs", params={"search": search})
    assert sorted(job["name"] for job in page["items"]) == sorted(["described", texts[search]])


async def test_a_job_is_found_by_its_exact_name(site: Site) -> None:
    await site.ours.job("shop")
    await site.ours.job("shop two")
    page = await site.ours.done("GET", "/jobs", params={"name": "shop"})
    assert [job["name"] for job in page["items"]] == ["shop"]


async def test_a_change_keeps_what_it_does_not_name(site: Site) -> None:
    job = await site.ours.job("shop", description="Orders.")
    changed = await site.ours.done("PATCH", f"/jobs/{job['id']}", {"name": "store"})
    assert (changed["name"], changed["description"]) == ("store", "Orders.")
    cleared = await site.ours.done("PATCH", f"/jobs/{job['id']}", {"description": None})
    assert (cleared["name"], cleared["description"]) == ("store", "")
    same = await site.ours.done("PATCH", f"/jobs/{job['id']}", {})
    assert same == cleared


async def test_a_change_of_what_has_changed_since_is_refused(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}"
    read = await site.ours.ask("GET", path)
    seen = {"If-Match": read.headers["etag"]}
    first = await site.ours.ask("PATCH", path, json={"name": "one"}, headers=seen)
    second = await site.ours.ask("PATCH", path, json={"name": "two"}, headers=seen)
    assert (first.status_code, second.status_code) == (200, 412)
    assert (await site.ours.done("GET", path))["name"] == "one"
    new = {"If-Match": first.headers["etag"]}
    assert (await site.ours.ask("PATCH", path, json={"name": "two"}, headers=new)).is_success
    for any_of_them in ("*", ' "7", W/"9", "3"'):
        headers = {"If-Match": any_of_them}
        assert (await site.ours.ask("PATCH", path, json={}, headers=headers)).status_code == 200


@pytest.mark.parametrize("tag", ['"99"', 'W/"1"', '""', '"01"', '"99999999999999999999"'])
async def test_a_tag_that_is_not_the_present_one_changes_nothing(site: Site, tag: str) -> None:
    job = await site.ours.job("shop")
    answer = await site.ours.ask(
        "PATCH", f"/jobs/{job['id']}", json={"name": "x"}, headers={"If-Match": tag}
    )
    assert answer.status_code == 412
    assert (await site.ours.done("GET", f"/jobs/{job['id']}"))["name"] == "shop"


async def test_a_pause_is_that_of_every_endpoint_and_of_those_that_come_later(site: Site) -> None:
    job = await site.ours.job()
    first = await site.ours.endpoint(job, "first")
    paused = await site.ours.done("POST", f"/jobs/{job['id']}/pause", {"reason": "a holiday"})
    assert (paused["paused"], paused["paused_until"]) == (True, None)
    later = await site.ours.endpoint(job, "later")
    for endpoint in (first, later):
        current = await site.ours.done("GET", f"/endpoints/{endpoint['id']}")
        assert current["next_run_at"] is None
        assert current["next_runs"] == []
        assert [pause["by"] for pause in current["pauses"]] == ["job"]
    resumed = await site.ours.done("POST", f"/jobs/{job['id']}/resume")
    assert resumed["paused"] is False
    for endpoint in (first, later):
        current = await site.ours.done("GET", f"/endpoints/{endpoint['id']}")
        assert (current["next_source"], current["pauses"]) == ("resumed", [])
        assert len(current["next_runs"]) == 5


async def test_a_pause_until_an_instant_shows_it_and_the_runs_after_it(site: Site) -> None:
    job = await site.ours.job()
    endpoint = await site.ours.endpoint(job)
    until = "2099-01-01T00:00:00Z"
    paused = await site.ours.done("POST", f"/jobs/{job['id']}/pause", {"until": until})
    assert paused["paused_until"] == until
    current = await site.ours.done("GET", f"/endpoints/{endpoint['id']}")
    assert (current["next_run_at"], current["next_source"]) == (until, "paused")


async def test_a_pause_that_is_over_already_is_none(site: Site) -> None:
    job = await site.ours.job()
    body = {"until": "2020-01-01T00:00:00Z"}
    assert (await site.ours.done("POST", f"/jobs/{job['id']}/pause", body))["paused"] is False


async def test_the_end_of_a_job_is_that_of_its_endpoints(site: Site) -> None:
    job = await site.ours.job()
    endpoint = await site.ours.endpoint(job)
    archived = await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    assert archived["archived_at"] is not None
    current = await site.ours.done("GET", f"/endpoints/{endpoint['id']}")
    assert current["archived_at"] is not None
    assert current["next_run_at"] is None
    assert (await site.ours.done("GET", "/jobs"))["items"] == []
    listed = await site.ours.done("GET", "/jobs", params={"archived": "true"})
    assert [item["id"] for item in listed["items"]] == [job["id"]]


async def test_what_is_archived_stays_so(site: Site) -> None:
    job = await site.ours.job()
    first = await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    again = await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    assert again["archived_at"] == first["archived_at"]
    document = {"name": "x", "every": "5m", "url": "https://x.example"}
    for method, action, body in (
        ("PATCH", "", {"name": "x"}),
        ("POST", "/pause", {}),
        ("POST", "/resume", None),
        ("POST", "/endpoints", document),
    ):
        content = {} if body is None else {"json": body}
        answer = await site.ours.ask(method, f"/jobs/{job['id']}{action}", **content)
        assert answer.status_code == 409, f"{action}: {answer.text}"
        assert "archived" in answer.json()["detail"]


async def test_what_planners_may_do_is_answered_in_full_and_patched_by_field(site: Site) -> None:
    planner = {"llm": "act", "max_pause": 0, "model": "small"}
    job = await site.ours.done("POST", "/jobs", json={"name": "shop", "planner": planner})
    assert job["planner"] == {
        "rules": None, "detectors": None, "llm": "act", "relax": False, "extra_runs": 0.25,
        "max_pause": 0, "min_gap": "5m", "model": "small", "prompt": None,
        "tokens_per_day": None, "money_per_day": None, "tokens_per_session": None, "account": None,
    }  # fmt: skip
    change = {"planner": {"detectors": "off", "model": None}}
    changed = await site.ours.done("PATCH", f"/jobs/{job['id']}", json=change)
    assert changed["planner"] == {**job["planner"], "detectors": "off", "model": None}
    answer = await site.ours.ask("PATCH", f"/jobs/{job['id']}", json={"planner": {"relax": 99}})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["field"], error["value"]) == ("planner.relax", "99")
