"""Limits, request ids, and what a client hears when something breaks: never a stack trace."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest
import structlog

from cadenza.adapters.postgres.database import open_database
from cadenza.domain.errors import InstallationError
from tests.adapters.postgres.support import Cable, until
from tests.backends import PostgresBackend
from tests.postgres import migrated_database_url
from tests.web.html_pages import signed_in
from tests.web.support import Site, site_over

BASE = "http://cadenza"


async def test_every_answer_tells_what_is_left_of_the_limit(site: Site) -> None:
    async with site.emptied(rate_limit=60) as slow:
        first = await slow.ours.ask("GET", "/me")
        second = await slow.ours.ask("GET", "/me")
        assert first.headers["ratelimit-limit"] == "60"
        left = [int(answer.headers["ratelimit-remaining"]) for answer in (first, second)]
        assert left == [59, 58]
        assert int(second.headers["ratelimit-reset"]) >= 1


async def test_over_the_limit_one_key_waits_and_another_does_not(site: Site) -> None:
    async with site.emptied(rate_limit=60) as slow:
        answers = [await slow.ours.ask("GET", "/me") for _ in range(75)]
        over = answers[-1]
        assert over.status_code == 429
        assert over.headers["content-type"] == "application/problem+json"
        assert over.headers["ratelimit-remaining"] == "0"
        assert int(over.headers["retry-after"]) >= 1
        assert "60 requests a minute" in over.json()["detail"]
        assert (await slow.theirs.ask("GET", "/me")).status_code == 200


async def test_a_request_keeps_its_id_and_one_without_gets_one(site: Site) -> None:
    named = await site.ours.ask("GET", "/me", headers={"X-Request-Id": "trace-7.a_b"})
    assert named.headers["x-request-id"] == "trace-7.a_b"
    made = await site.ours.ask("GET", "/me")
    assert len(made.headers["x-request-id"]) == 32
    missing = await site.ours.ask("GET", "/jobs/x")
    assert missing.json()["request_id"] == missing.headers["x-request-id"]


@pytest.mark.parametrize("strange", ["a b", "x" * 65, "<script>", "a;b", "é"])
async def test_an_id_that_a_log_should_not_hold_is_not_taken(site: Site, strange: str) -> None:
    headers: Any = {"X-Request-Id": strange.encode("latin-1")}
    answer = await site.ours.ask("GET", "/me", headers=headers)
    assert answer.headers["x-request-id"] != strange
    assert len(answer.headers["x-request-id"]) == 32


async def test_every_answer_may_not_be_kept_or_guessed_at(site: Site) -> None:
    for path in ("/me", "/nowhere", "/jobs/x"):
        answer = await site.ours.ask("GET", path)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers


@pytest.mark.slow
async def test_while_the_database_is_away_the_answer_is_503_and_it_comes_back_by_itself() -> None:
    async with migrated_database_url() as url, Cable(url).plugged() as cable:
        database = await open_database(cable.url, connections=3)
        try:
            async with site_over(await PostgresBackend.over(database)) as site:
                assert (await site.ours.ask("GET", "/jobs")).status_code == 200
                await cable.cut()
                away = await site.ours.ask("GET", "/jobs")
                assert away.status_code == 503
                assert away.headers["retry-after"] == "1"
                assert "127.0.0.1" not in away.text, "where the database is, is nobody's business"
                write = await site.ours.ask("POST", "/jobs", json={"name": "lost"})
                assert write.status_code == 503
                await cable.mend()

                async def answers() -> bool:
                    return (await site.ours.ask("GET", "/jobs")).status_code == 200

                await until(answers)
                page = await site.ours.done("GET", "/jobs")
                assert page["items"] == []
        finally:
            await database.close()


class Broken:
    """A part that fails as nobody foresaw, with something in its hands that nobody may see."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        async def fails(*_args: object) -> None:
            raise self._error

        return fails


def _read_jobs_from(site: Site, jobs: Any) -> None:
    dependencies = site.app.state.dependencies
    dependencies.reads = replace(dependencies.reads, jobs=jobs)


async def test_what_nobody_foresaw_is_logged_under_an_id_and_told_without_a_trace(
    site: Site,
) -> None:
    broken: Any = Broken(ZeroDivisionError("password=hunter2"))
    _read_jobs_from(site, broken)
    with structlog.testing.capture_logs() as logged:
        answer = await site.ours.ask("GET", "/jobs")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    for hidden in ("hunter2", "ZeroDivision", "Traceback", ".py"):
        assert hidden not in answer.text
    (entry,) = [line for line in logged if line["event"] == "api.failed"]
    assert entry["request_id"] == answer.headers["x-request-id"]


async def test_a_page_says_so_too(site: Site) -> None:
    broken: Any = Broken(ZeroDivisionError("password=hunter2"))
    visitor = await signed_in(site, site.ours)
    _read_jobs_from(site, broken)
    transport = httpx.ASGITransport(app=site.app, raise_app_exceptions=False)
    cookies = dict(visitor.client.cookies)
    async with httpx.AsyncClient(transport=transport, base_url=BASE, cookies=cookies) as client:
        page = await client.get("/jobs", headers={"X-Request-Id": "trace-7"})
    assert page.status_code == 500
    assert "logged with the request id trace-7" in page.text
    assert "hunter2" not in page.text


async def test_the_admins_trouble_is_theirs_to_read(site: Site) -> None:
    broken: Any = Broken(InstallationError("the disk /dev/sda1 is full"))
    _read_jobs_from(site, broken)
    with structlog.testing.capture_logs() as logged:
        answer = await site.ours.ask("GET", "/jobs")
    assert answer.status_code == 503
    assert "sda1" not in answer.text
    assert any("sda1" in entry.get("error", "") for entry in logged)


async def test_changes_at_once_are_made_one_after_the_other(site: Site) -> None:
    made = await site.ours.endpoint()
    path = f"/endpoints/{made['id']}"
    asked = [site.ours.ask("PATCH", path, json={"every": f"{n + 1}h"}) for n in range(8)]
    answers = await asyncio.gather(*asked)
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["revision"] for answer in answers) == list(range(2, 10))
