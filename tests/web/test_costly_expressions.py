"""Expressions that cost, sent to the API: nobody else waits for them."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.backends import MEMORY, new_backend
from tests.web.support import Site, site_over
from tests.web.test_endpoint_secrets import Target


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with new_backend(MEMORY) as backend, site_over(backend) as site:
        yield site


async def test_a_test_of_a_costly_condition_ends_and_others_are_served(site: Site) -> None:
    async with Target().serving() as target:
        many = ",".join(map(str, range(100)))
        costly = f"[{many}].all(x, [{many}].all(y, string(body) != '' && x + y >= 0))"
        made = await site.ours.endpoint(
            url=target.url, success_when=costly, headers={"X-Long": "x" * 7000}
        )
        testing = asyncio.create_task(site.ours.done("POST", f"/endpoints/{made['id']}/test"))
        served = 0
        while not testing.done():
            await site.theirs.done("GET", "/me")
            await asyncio.sleep(0)
            served += 1
        assert served >= 3
        tested = await testing
        assert tested["status"] in ("success", "failure")


@pytest.mark.parametrize(
    "pattern", [r"(\\\\w{30}){30}{ 900 }", "a{ 900 }{ 7 }", "((a{99}){99}){9}"]
)
async def test_fifty_rules_with_large_patterns_are_read_or_refused(
    site: Site, pattern: str
) -> None:
    rules = [
        {
            "name": f"rule {n}",
            "when": f"response.all(x, x.matches('{pattern}')) && {n} > 0",
            "then": {"clear": True},
        }
        for n in range(50)
    ]
    answer = await site.ours.ask("POST", "/jobs", json={"name": "ruled", "rules": rules})
    assert answer.status_code in (201, 422)
