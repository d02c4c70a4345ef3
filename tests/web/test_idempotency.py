"""A create that is sent twice under one key happens once."""

import asyncio
from typing import Any

import pytest

from tests.web.support import Site

KEY = {"Idempotency-Key": "order-7"}


async def _count(site: Site, table: str) -> int:
    return len((await site.contents())[table])


async def test_sent_twice_it_is_made_once_and_the_answer_says_so(site: Site) -> None:
    job = await site.ours.job()
    document = {"name": "orders", "every": "5m", "url": "https://shop.example"}
    for path, body, table in (
        ("/jobs", {"name": "again"}, "jobs"),
        (f"/jobs/{job['id']}/endpoints", document, "endpoints"),
    ):
        headers = {"Idempotency-Key": f"for {table}".replace(" ", "-")}
        before = await _count(site, table)
        first = await site.ours.ask("POST", path, json=body, headers=headers)
        second = await site.ours.ask("POST", path, json=body, headers=headers)
        assert (first.status_code, second.status_code) == (201, 201)
        assert first.json()["id"] == second.json()["id"]
        assert "idempotent-replayed" not in first.headers
        assert second.headers["idempotent-replayed"] == "true"
        assert await _count(site, table) == before + 1


async def test_sent_many_times_at_once_it_is_made_once(site: Site) -> None:
    asked = [site.ours.ask("POST", "/jobs", json={"name": "one"}, headers=KEY) for _ in range(10)]
    answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert await _count(site, "jobs") == 1
    entries = await site.ours.done("GET", "/audit", params={"action": "job.create"})
    assert len(entries["items"]) == 1


@pytest.mark.parametrize("body", [{"name": "two"}, {"name": "one", "description": "more"}])
async def test_the_same_key_for_another_request_is_refused(
    site: Site, body: dict[str, Any]
) -> None:
    await site.ours.ask("POST", "/jobs", json={"name": "one"}, headers=KEY)
    answer = await site.ours.ask("POST", "/jobs", json=body, headers=KEY)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "Idempotency-Key"
    assert await _count(site, "jobs") == 1


async def test_the_same_key_on_another_path_is_refused(site: Site) -> None:
    one, two = await site.ours.job("one"), await site.ours.job("two")
    document = {"name": "orders", "every": "5m", "url": "https://shop.example"}
    for job, status in ((one, 201), (two, 422)):
        path = f"/jobs/{job['id']}/endpoints"
        answer = await site.ours.ask("POST", path, json=document, headers=KEY)
        assert answer.status_code == status


async def test_a_key_of_one_tenant_is_none_of_another(site: Site) -> None:
    ours = await site.ours.ask("POST", "/jobs", json={"name": "one"}, headers=KEY)
    theirs = await site.theirs.ask("POST", "/jobs", json={"name": "one"}, headers=KEY)
    assert (ours.status_code, theirs.status_code) == (201, 201)
    assert ours.json()["id"] != theirs.json()["id"]


async def test_a_create_that_failed_may_be_sent_again(site: Site) -> None:
    job = await site.ours.job("taken")
    first = await site.ours.ask("POST", "/jobs", json={"name": "taken"}, headers=KEY)
    await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    second = await site.ours.ask("POST", "/jobs", json={"name": "taken"}, headers=KEY)
    assert (first.status_code, second.status_code) == (409, 201)


async def test_a_tenant_and_a_user_are_made_once_too(site: Site) -> None:
    first = await site.admin("POST", "/tenants", json={"name": "new"}, headers=KEY)
    second = await site.admin("POST", "/tenants", json={"name": "new"}, headers=KEY)
    assert first.json() == second.json()
    assert second.headers["idempotent-replayed"] == "true"
    path = f"/tenants/{first.json()['id']}/users"
    ada = await site.admin("POST", path, json={"name": "ada"}, headers=KEY)
    again = await site.admin("POST", path, json={"name": "ada"}, headers=KEY)
    assert (ada.status_code, ada.json()) == (201, again.json())
    await site.admin("DELETE", f"{path}/{ada.json()['id']}")
    gone = await site.admin("POST", path, json={"name": "ada"}, headers=KEY)
    assert gone.status_code == 404
