"""Secret headers: kept, replaced, taken away, sent, and never shown; and test calls."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.web.support import Site

FIRST, SECOND = "first-secret-value", "second-secret-value"


class Target:
    """Remembers what it was sent; answers as the test says."""

    def __init__(self) -> None:
        self.seen: list[dict[str, str]] = []
        self.status = 200
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Target"]:
        app = web.Application()
        app.router.add_route("*", "/", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _answer(self, asked: web.Request) -> web.Response:
        self.seen.append({name.lower(): value for name, value in asked.headers.items()})
        return web.json_response({"echo": dict(asked.headers)}, status=self.status)


async def _tested(site: Site, target: Target, made: dict[str, Any]) -> dict[str, str]:
    await site.ours.done("POST", f"/endpoints/{made['id']}/test")
    return target.seen[-1]


async def test_a_secret_is_sent_to_the_target_and_shown_to_nobody(site: Site) -> None:
    async with Target().serving() as target:
        made = await site.ours.endpoint(url=target.url, secret_headers={"X-Key": FIRST})
        tested = await site.ours.ask("POST", f"/endpoints/{made['id']}/test")
        assert target.seen[-1]["x-key"] == FIRST
        assert FIRST not in tested.text  # although the target echoes it
        endpoint = await site.ours.done("GET", f"/endpoints/{made['id']}")
        listed = await site.ours.done("GET", "/endpoints")
        assert endpoint["target"]["secret_headers"] == ["X-Key"]
        assert FIRST not in json.dumps([made, endpoint, listed])
        assert FIRST not in str(await site.contents())


async def test_a_secret_is_kept_replaced_and_taken_away(site: Site) -> None:
    async with Target().serving() as target:
        secrets = {"X-Key": FIRST, "X-Other": FIRST}
        made = await site.ours.endpoint(url=target.url, secret_headers=secrets)
        path = f"/endpoints/{made['id']}"
        await site.ours.done("PATCH", path, {"every": "7m"})
        assert (await _tested(site, target, made))["x-key"] == FIRST
        await site.ours.done("PATCH", path, {"secret_headers": {"X-Key": "***"}})
        assert (await _tested(site, target, made))["x-key"] == FIRST
        await site.ours.done("PATCH", path, {"secret_headers": {"X-Key": SECOND}})
        sent = await _tested(site, target, made)
        assert (sent["x-key"], sent["x-other"]) == (SECOND, FIRST)
        changed = await site.ours.done("PATCH", path, {"secret_headers": {"X-Key": None}})
        assert changed["target"]["secret_headers"] == ["X-Other"]
        assert "x-key" not in await _tested(site, target, made)
        changed = await site.ours.done("PATCH", path, {"secret_headers": None})
        assert changed["target"]["secret_headers"] == []
        assert "x-other" not in await _tested(site, target, made)


async def test_what_is_not_stored_cannot_be_kept(site: Site) -> None:
    job = await site.ours.job()
    document = {"name": "x", "every": "5m", "url": "https://x.example"}
    keeping = {"secret_headers": {"X-Key": "***"}}
    answer = await site.ours.ask(
        "POST", f"/jobs/{job['id']}/endpoints", json={**document, **keeping}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "secret_headers.X-Key"
    made = await site.ours.endpoint(job)
    answer = await site.ours.ask("PATCH", f"/endpoints/{made['id']}", json=keeping)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "secret_headers.X-Key"


async def test_a_new_secret_raises_the_revision_and_the_same_one_does_not(site: Site) -> None:
    made = await site.ours.endpoint(secret_headers={"X-Key": FIRST})
    path = f"/endpoints/{made['id']}"
    same = await site.ours.done("PATCH", path, {"secret_headers": {"X-Key": FIRST}})
    new = await site.ours.done("PATCH", path, {"secret_headers": {"X-Key": SECOND}})
    assert (same["revision"], new["revision"]) == (1, 2)


async def test_a_test_call_counts_for_nothing(site: Site) -> None:
    async with Target().serving() as target:
        made = await site.ours.endpoint(url=target.url)
        await site.ours.done("GET", "/me")
        before = await site.contents()
        for status, outcome in ((200, "success"), (500, "failure"), (200, "success")):
            target.status = status
            tested = await site.ours.done("POST", f"/endpoints/{made['id']}/test")
            assert (tested["status"], tested["status_code"]) == (outcome, status)
            assert tested["duration_ms"] >= 0
        after = await site.contents()
        for table in ("endpoints", "runs", "run_attempts", "jobs"):
            assert after[table] == before[table], table
        assert len(target.seen) == 3


async def test_a_test_call_into_a_closed_network_is_an_outcome_with_the_reason(site: Site) -> None:
    async with site.emptied(allowed_networks="") as closed:
        async with Target().serving() as target:
            made = await closed.ours.endpoint(url=target.url)
            tested = await closed.ours.done("POST", f"/endpoints/{made['id']}/test")
        assert tested["status"] == "failure"
        assert tested["error_kind"] is not None
        assert target.seen == []
