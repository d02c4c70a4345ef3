"""Event streams of people: they hear of their own jobs, and end when their role does."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from cadenza.domain.access import Scope, User
from cadenza.domain.people import Role
from tests.factories import seconds
from tests.web.reading import Reading, Tenancy, following


@pytest.fixture
async def address(world: Reading) -> AsyncIterator[str]:
    """Keys are looked at once an hour: what ends a stream sooner is what was done."""
    world.set_pace(check_key=seconds(3600))
    async with world.served() as address:
        yield address


async def somebody(world: Reading) -> Tenancy:
    """Of our tenant, with a key of their own."""
    ours, user_id = world.ours, uuid4()
    async with world.backend.store.transaction() as tx:
        user = User(user_id, ours.id, "eve", await tx.time())
        await tx.insert_user(user)
    tenancy = Tenancy(ours.id, user_id, ours.token, ours.key_id, ours.job_id)
    return await world.add_key(tenancy, Scope.READ)


async def test_a_removed_persons_stream_ends_at_once(world: Reading, address: str) -> None:
    person = await somebody(world)
    async with following(address, person) as stream, following(address, world.ours) as other:
        assert (await stream.next()).kind == "ready"
        assert (await other.next()).kind == "ready"
        path = f"/api/v1/people/{person.user_id}"
        answer = await world.client.delete(path, headers=world.ours.headers)
        assert answer.status_code == 200, answer.text
        assert (await stream.next()).kind == "closed"
        endpoint = await world.add_endpoint()
        await world.post(f"/endpoints/{endpoint.id}/pause", {"reason": "still here"})
        assert (await other.next()).kind == "endpoint.pause"


async def test_the_stream_of_a_revoked_key_ends_at_once(world: Reading, address: str) -> None:
    leaked = await world.add_key(world.ours, Scope.READ)
    async with following(address, leaked) as stream, following(address, world.ours) as other:
        assert (await stream.next()).kind == "ready"
        assert (await other.next()).kind == "ready"
        path = f"/api/v1/keys/{leaked.key_id}"
        answer = await world.client.delete(path, headers=world.ours.headers)
        assert answer.status_code == 200, answer.text
        assert (await stream.next()).kind == "closed"
        endpoint = await world.add_endpoint()
        await world.post(f"/endpoints/{endpoint.id}/pause", {"reason": "still here"})
        assert (await other.next()).kind == "endpoint.pause"


async def test_a_new_role_ends_the_stream_under_the_old_one(world: Reading, address: str) -> None:
    person = await somebody(world)
    async with following(address, person) as stream:
        assert (await stream.next()).kind == "ready"
        await give_job(world, person)
        assert (await stream.next()).kind == "closed"


async def test_who_has_one_job_hears_of_that_alone(world: Reading, address: str) -> None:
    person = await somebody(world)
    await give_job(world, person)
    own = await world.add_endpoint()
    other = await world.client.post(
        "/api/v1/jobs", headers=world.ours.headers, json={"name": "other"}
    )
    async with following(address, person) as stream:
        assert (await stream.next()).kind == "ready"
        body = {"description": "not for them"}
        path = f"/api/v1/jobs/{other.json()['id']}"
        assert (await world.client.patch(path, headers=world.ours.headers, json=body)).is_success
        await world.post(f"/endpoints/{own.id}/pause", {"reason": "theirs"})
        heard = await stream.next()
        assert (heard.kind, heard.data["endpoint_id"]) == ("endpoint.pause", str(own.id))


async def give_job(world: Reading, person: Tenancy) -> None:
    roles = {"jobs": [{"job_id": str(world.ours.job_id), "role": Role.VIEWER}]}
    path = f"/api/v1/people/{person.user_id}/role"
    answer = await world.client.put(path, headers=world.ours.headers, json=roles)
    assert answer.status_code == 200, answer.text
