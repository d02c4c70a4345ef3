"""People and programs that change the same things at the same moment: no deadlock, nothing lost."""

import asyncio
from typing import Any
from uuid import UUID

import asyncpg

from tests.postgres import SHARED, url_of
from tests.web.support import Site

ROUNDS = 40
ENDPOINTS = 8


def manifest(round_number: int) -> dict[str, Any]:
    """Another interval and another target with each round."""
    endpoints = [
        {
            "name": f"e{number}",
            "every": f"{60 + round_number % 2}s",
            "url": f"https://shop.example/{round_number}/{number}",
        }
        for number in range(ENDPOINTS)
    ]
    return {"jobs": [{"name": "shop", "endpoints": endpoints}]}


async def test_an_apply_and_a_pause_of_its_job_do_not_wait_for_each_other_in_a_circle(
    postgres_site: Site,
) -> None:
    ours = postgres_site.ours
    await ours.ask("PUT", "/manifest", json=manifest(0))
    (job,) = (await ours.ask("GET", "/jobs")).json()["items"]
    statuses: list[int] = []

    async def apply() -> None:
        for number in range(ROUNDS):
            answer = await ours.ask("PUT", "/manifest", json=manifest(number))
            statuses.append(answer.status_code)

    async def pause_and_resume() -> None:
        for number in range(ROUNDS):
            action = "pause" if number % 2 == 0 else "resume"
            answer = await ours.ask("POST", f"/jobs/{job['id']}/{action}", json={})
            statuses.append(answer.status_code)

    await asyncio.gather(apply(), pause_and_resume(), pause_and_resume())
    assert set(statuses) == {200}


async def test_a_pause_during_an_apply_is_not_taken_back_by_it(postgres_site: Site) -> None:
    ours = postgres_site.ours
    await ours.ask("PUT", "/manifest", json=manifest(0))
    (job,) = (await ours.ask("GET", "/jobs")).json()["items"]
    for number in range(1, ROUNDS):
        wanted = manifest(number)
        wanted["jobs"][0]["description"] = f"as of round {number}"
        await asyncio.gather(
            ours.ask("PUT", "/manifest", json=wanted),
            ours.ask("POST", f"/jobs/{job['id']}/pause", json={}),
        )
        stored = (await ours.ask("GET", f"/jobs/{job['id']}")).json()
        assert stored["paused"]
        await ours.ask("POST", f"/jobs/{job['id']}/resume", json={})


async def test_requests_that_wait_for_a_lock_of_their_tenant_leave_connections_to_others(
    postgres_site: Site,
) -> None:
    """A large file that is being applied holds its jobs for seconds."""
    ours, theirs = postgres_site.ours, postgres_site.theirs
    job = await ours.job()
    await theirs.job()
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    lock = "SELECT FROM jobs WHERE id = $1 FOR UPDATE"
    applying = await asyncpg.connect(url_of(SHARED))
    async with asyncio.TaskGroup() as group:
        try:
            async with applying.transaction():
                await applying.execute(lock, UUID(job["id"]))
                changes = [
                    group.create_task(ours.ask("PATCH", f"/jobs/{job['id']}", json={"name": name}))
                    for name in map(str, range(20))
                ]
                while await applying.fetchval(waiting) < 2:  # noqa: ASYNC110 - PostgreSQL has no event
                    await asyncio.sleep(0.01)
                answers = [await theirs.ask("GET", "/jobs") for _ in range(5)]
        finally:
            await applying.close()
    assert [answer.status_code for answer in answers] == [200] * 5
    assert {change.result().status_code for change in changes} == {200}
