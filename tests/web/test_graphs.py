"""Which graphs there are, over the API; and schedules of one that no worker knows."""

from typing import Any

import pytest

from cadenza.domain.known_graph import AnnouncedGraph, Announcement
from tests.web.graph_schedules import GRAPH, announce, create_schedule, open_account, path_of
from tests.web.support import Site

SCHEMA = {"type": "object", "required": ["topic"]}


async def test_without_a_worker_there_is_none(site: Site) -> None:
    assert await site.ours.done("GET", "/graphs") == {"items": [], "next": None}


async def test_what_workers_announce_is_there_for_every_tenant(site: Site) -> None:
    poet = AnnouncedGraph("langgraph:poet", None, SCHEMA)
    broken = AnnouncedGraph(GRAPH, "no module named shop")
    await announce(site.backend, Announcement(("gpu",), (poet, broken)))
    for house in (site.ours, site.theirs):
        first, second = (await house.done("GET", "/graphs"))["items"]
        assert (first["graph_id"], first["state"]) == ("langgraph:poet", "ready")
        assert first["input_schema"] == SCHEMA
        assert first["workers"] == [
            {
                "worker": "test",
                "labels": ["gpu"],
                "state": "ready",
                "problem": None,
                "seen_at": first["seen_at"],
            }
        ]
        assert (second["state"], second["problem"]) == ("broken", "no module named shop")


async def test_one_graph_is_asked_for_by_its_id_whatever_is_in_it(site: Site) -> None:
    odd = "python:a/b c?&:Ä:x"
    await announce(site.backend, Announcement((), (AnnouncedGraph(odd), AnnouncedGraph(GRAPH))))
    (graph,) = (await site.ours.ask("GET", "/graphs", params={"graph_id": odd})).json()["items"]
    assert graph["graph_id"] == odd
    missing = await site.ours.ask("GET", "/graphs", params={"graph_id": "python:x:y"})
    assert missing.json()["items"] == []


async def test_pages_hold_every_graph_once(site: Site) -> None:
    ids = [f"python:jobs:{'ä' * 150}{number}" for number in range(5)]
    await announce(site.backend, Announcement((), tuple(map(AnnouncedGraph, ids))))
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = (await site.ours.ask("GET", "/graphs", params=query)).json()
        seen += [graph["graph_id"] for graph in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert seen == ids


READY = Announcement(("gpu",), (AnnouncedGraph(GRAPH),))
BROKEN = Announcement(("gpu",), (AnnouncedGraph(GRAPH, "no module named shop"),))


@pytest.mark.parametrize(
    ("announcement", "requires", "warning"),
    [
        (None, [], f"no worker knows the graph {GRAPH}"),
        (BROKEN, [], "could not be loaded: no module named shop"),
        (READY, ["region=eu"], "has all the labels region=eu"),
        (READY, ["gpu"], None),
        (READY, [], None),
    ],
)
async def test_a_schedule_that_no_worker_could_run_is_accepted_with_a_warning(
    site: Site, announcement: Announcement | None, requires: list[str], warning: str | None
) -> None:
    await open_account(site.ours)
    if announcement is not None:
        await announce(site.backend, announcement)
    schedule = await create_schedule(site.ours, requires=requires)
    assert len(schedule["warnings"]) == (warning is not None)
    assert warning is None or warning in schedule["warnings"][0]
    changed = await site.ours.done("PATCH", path_of(schedule), {"cron": "5 9 * * *"})
    shown = await site.ours.done("GET", path_of(schedule))
    assert schedule["warnings"] == changed["warnings"] == shown["warnings"]
    off = await site.ours.done("PATCH", path_of(schedule), {"enabled": False})
    assert off["warnings"] == []  # it is not to run


async def test_a_file_is_answered_with_the_same_warning(site: Site) -> None:
    await open_account(site.ours)
    schedule = {"name": "digest", "graph_id": GRAPH, "cron": "0 9 * * *"}
    answer = await site.ours.done("PUT", "/manifest", {"jobs": [], "schedules": [schedule]})
    (warning,) = answer["warnings"]
    assert warning["field"] == "schedules[0].graph_id"
    assert "no worker knows" in warning["text"]
