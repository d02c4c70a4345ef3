"""Endpoints listed: by job, name, text and state, in three orders, page by page."""

from typing import Any
from uuid import UUID

import pytest

from cadenza.web.api.parsing.cursors import write_cursor
from tests.web.support import Site


async def _walk(site: Site, **query: Any) -> list[str]:
    """The names over all pages of two."""
    names: list[str] = []
    wanted = {"limit": 2, **query}
    while True:
        page = await site.ours.done("GET", "/endpoints", params=wanted)
        assert len(page["items"]) <= 2
        names += [endpoint["name"] for endpoint in page["items"]]
        if page["next"] is None:
            return names
        wanted["cursor"] = page["next"]


@pytest.fixture
async def five(site: Site) -> Site:
    job = await site.ours.job("many")
    for name, fields in (
        ("delta", {"cron": "0 9 * * *"}),
        ("alpha", {"on_demand": True}),
        ("echo", {"every": "1h"}),
        ("bravo", {"every": "5m", "url": "https://bravo.example/50%25_off"}),
        ("charlie", {"cron": "0 9 1 1 *"}),
    ):
        await site.ours.endpoint(job, name, **fields)
    return site


async def test_by_creation_by_name_or_by_the_next_run_each_is_listed_once(five: Site) -> None:
    created = ["delta", "alpha", "echo", "bravo", "charlie"]
    assert await _walk(five) == created
    assert await _walk(five, sort="created_at") == created
    assert await _walk(five, sort="name") == sorted(created)
    due = await _walk(five, sort="next_run_at")
    assert sorted(due) == ["bravo", "charlie", "delta", "echo"]
    assert set(due[:2]) == {"bravo", "echo"}


async def test_pages_go_on_through_those_that_are_paused_without_an_end(five: Site) -> None:
    listed = await five.ours.done("GET", "/endpoints")
    for endpoint in listed["items"]:
        await five.ours.done("POST", f"/endpoints/{endpoint['id']}/pause", {})
    assert len(await _walk(five, sort="next_run_at")) == 4


async def test_a_filter_holds_over_all_pages(five: Site) -> None:
    other = await five.ours.job("other")
    await five.ours.endpoint(other, "foxtrot")
    assert await _walk(five, job_id=other["id"]) == ["foxtrot"]
    assert await _walk(five, name="echo") == ["echo"]
    assert await _walk(five, search="ALPH") == ["alpha"]
    assert await _walk(five, search="%25_off") == ["bravo"]
    assert await _walk(five, search="%") == ["bravo"]


async def test_states_are_told_apart(five: Site) -> None:
    ids = {
        endpoint["name"]: endpoint["id"]
        for endpoint in (await five.ours.done("GET", "/endpoints"))["items"]
    }
    await five.ours.done("POST", f"/endpoints/{ids['delta']}/pause", {})
    await five.ours.done("POST", f"/endpoints/{ids['alpha']}/archive")
    echo_id = UUID(ids["echo"])
    await five.backend.change_endpoint(five.ours.tenant_id, echo_id, failure_count=2)
    assert await _walk(five, state="paused") == ["delta"]
    assert await _walk(five, state="archived") == ["alpha"]
    assert await _walk(five, state="failing") == ["echo"]
    assert await _walk(five, state="active") == ["echo", "bravo", "charlie"]


async def test_a_cursor_of_another_order_is_refused_and_never_breaks(five: Site) -> None:
    page = await five.ours.done("GET", "/endpoints", params={"sort": "name", "limit": 1})
    for sort in ("created_at", "next_run_at"):
        query = {"sort": sort, "cursor": page["next"]}
        answer = await five.ours.ask("GET", "/endpoints", params=query)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "cursor"


@pytest.mark.parametrize(
    "value", ["2026-W01-1", "20260101T000000Z", "2026-01-01T00:00:00+00:00:30.5", "2026-01-01"]
)
async def test_an_instant_in_a_cursor_that_only_we_can_read_does_not_reach_the_database(
    five: Site, value: str
) -> None:
    query = {"cursor": write_cursor(value, UUID(int=1))}
    answer = await five.ours.ask("GET", "/endpoints", params=query)
    assert answer.status_code in (200, 422), answer.text
