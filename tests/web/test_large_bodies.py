"""Bodies that cost more to read than to send: nobody else waits for them."""

import asyncio
from collections.abc import Coroutine
from time import process_time, thread_time
from typing import Any, TypeVar

import pytest

from cadenza.web.api.parsing.strict_json import parse
from tests.effort import at_most
from tests.web.support import Site

T = TypeVar("T")
MANY_NUMBERS = b"[" + b"0," * 400_000 + b"0]"
TOO_MANY_NUMBERS = b"[" + b"0," * 4_000_000 + b"0]"
JSON = {"Content-Type": "application/json"}


async def test_nothing_is_read_for_a_key_that_is_unknown(site: Site) -> None:
    reads = 0

    async def body():
        nonlocal reads
        reads += 1
        yield MANY_NUMBERS

    headers = {**JSON, "Authorization": "Bearer x"}
    answer = await site.ours.ask("PUT", "/manifest", content=body(), headers=headers)
    assert answer.status_code == 401
    assert reads == 0


async def test_more_values_than_anybody_needs_are_refused_unread(site: Site) -> None:
    answer = await site.ours.ask("PUT", "/manifest", content=TOO_MANY_NUMBERS, headers=JSON)
    assert answer.status_code == 400
    assert "500000 are the most" in answer.text


async def with_turns(asking: Coroutine[Any, Any, T]) -> tuple[T, list[float]]:
    """The answer, and how much this thread worked each time that somebody else waited for it."""
    turns: list[float] = []
    with at_most(60):  # and without collections, which are none of ours
        asked = asyncio.create_task(asking)
        while not asked.done():
            before = thread_time()
            await asyncio.sleep(0)
            turns.append(thread_time() - before)
    return await asked, turns


async def test_while_a_large_body_is_read_others_are_served(site: Site) -> None:
    before = thread_time()
    parse(MANY_NUMBERS)
    work = thread_time() - before
    asking = site.ours.ask("PUT", "/manifest", content=MANY_NUMBERS, headers=JSON)
    answer, turns = await with_turns(asking)
    assert answer.status_code == 422
    assert max(turns) < work / 2


def large_file(every: str) -> dict[str, Any]:
    endpoints = [
        {"name": f"e{number}", "every": every, "url": f"https://shop.example/{number}"}
        for number in range(1000)
    ]
    return {"jobs": [{"name": f"job {number}", "endpoints": endpoints} for number in range(3)]}


async def test_while_a_large_file_is_applied_others_are_served(postgres_site: Site) -> None:
    ours = postgres_site.ours
    await ours.done("PUT", "/manifest", large_file("1h"))
    answer, turns = await with_turns(ours.done("PUT", "/manifest", large_file("2h")))
    assert answer["counts"]["update"] == 3000
    assert max(turns) < sum(turns) / 10


async def test_a_file_that_is_wrong_in_every_line_is_refused_with_the_first_hundred(
    site: Site,
) -> None:
    jobs = [{"name": f"job {number}", "endpoints": [{}] * 300} for number in range(300)]
    with at_most(10, process_time):  # it was minutes
        answer = await site.ours.ask("PUT", "/manifest", json={"jobs": jobs})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100


MANY = {f"k{number}": number for number in range(60_000)}


@pytest.mark.parametrize(
    "fields", [MANY, {"headers": MANY}, {"limits": MANY}], ids=["own", "headers", "limits"]
)
async def test_of_many_unknown_fields_a_hundred_are_looked_at(
    site: Site, fields: dict[str, Any]
) -> None:
    job = await site.ours.job("shop")
    with at_most(2, process_time):  # it was four
        answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=fields)
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) <= 100


async def test_a_file_of_unknown_fields_is_refused_with_the_first_hundred(site: Site) -> None:
    with at_most(2, process_time):
        answer = await site.ours.ask("PUT", "/manifest", json={"jobs": [], **MANY})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100


async def test_a_file_has_so_many_endpoints_in_all_its_jobs(site: Site) -> None:
    endpoint = {"name": "a", "url": "https://example.com/", "every": "1h"}
    jobs = [{"name": f"job {number}", "endpoints": [endpoint] * 9_000} for number in range(3)]
    answer = await site.ours.ask("PUT", "/manifest", json={"jobs": jobs})
    assert answer.status_code == 422
    assert "20,000 in all jobs of a file are the most" in answer.text
