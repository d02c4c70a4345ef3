"""Bodies that cost more to read than to send: nobody else waits for them."""

import asyncio
import time

from tests.web.support import Site

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


async def test_while_a_large_body_is_read_others_are_served(site: Site) -> None:
    reading = asyncio.create_task(
        site.ours.ask("PUT", "/manifest", content=MANY_NUMBERS, headers=JSON)
    )
    served = 0
    while not reading.done():
        await site.ours.ask("GET", "/me")
        await asyncio.sleep(0)  # over memory a whole request may pass without a turn of the loop
        served += 1
    assert (await reading).status_code == 422
    assert served >= 3


async def test_a_file_that_is_wrong_in_every_line_is_refused_with_the_first_hundred(
    site: Site,
) -> None:
    jobs = [{"name": f"job {number}", "endpoints": [{}] * 300} for number in range(300)]
    began = time.process_time()
    answer = await site.ours.ask("PUT", "/manifest", json={"jobs": jobs})
    assert time.process_time() - began < 10  # of work; it was minutes
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100
