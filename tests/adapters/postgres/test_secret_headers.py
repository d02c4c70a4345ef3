"""Secret headers from the owner to the target, and what happens when a key is lost on the way."""

from hashlib import sha256
from uuid import uuid4

from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.keys import ConfiguredKeys
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.endpoint import Job
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import HttpTarget, Secret
from tests.factories import NOON, OK, id_of, make_endpoint, seconds
from tests.postgres import BOX, Database, StoppedClock, direct, emptied_database, run_queue

OTHER_BOX = AesGcmBox(ConfiguredKeys(sha256(b"another key").hexdigest()))
SECRET = "Bearer correct-horse-battery-staple"


async def add(database: Database, name: str, **headers: Secret) -> None:
    endpoint = make_endpoint(name)
    store = direct(database, BOX)
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO tenants (id, name) VALUES ($1::uuid, $1::uuid::text)"
            " ON CONFLICT DO NOTHING",
            endpoint.tenant_id,
        )
    await store.add_job(Job(endpoint.job_id, endpoint.tenant_id, "a job"))
    target = HttpTarget(f"http://{name}.example/", secret_headers=headers)
    await store.add_endpoint(endpoint, target)


async def claims(database: Database, box: AesGcmBox) -> dict[str, Claim]:
    queue = run_queue(database, uuid4, box)
    batch = await queue.claim_due(ClaimRequest("worker", limit=10, lease=seconds(30)))
    return {claim.endpoint_name: claim for claim in batch.claims}


class Answers:
    async def dispatch(self, claim: Claim) -> Outcome:
        return OK


async def test_a_secret_header_is_encrypted_at_rest_and_opened_for_its_claim() -> None:
    async with emptied_database() as database:
        await StoppedClock.in_database(database, NOON + seconds(10))
        await add(database, "guarded", Authorization=Secret(SECRET))
        async with database.connection() as connection:
            stored = await connection.fetchval("SELECT e::text FROM endpoints AS e")
        assert "Authorization" in stored
        assert "correct-horse" not in stored
        claim = (await claims(database, BOX))["guarded"]
    assert isinstance(claim.target, HttpTarget)
    assert claim.target.secret_headers == {"Authorization": Secret(SECRET)}
    assert "correct-horse" not in repr(claim)


async def test_a_lost_key_fails_the_runs_that_need_it_and_no_others() -> None:
    async with emptied_database() as database:
        await StoppedClock.in_database(database, NOON + seconds(10))
        await add(database, "guarded", Authorization=Secret(SECRET))
        await add(database, "plain")
        claimed = await claims(database, OTHER_BOX)
    dispatcher = RoutedDispatcher({HttpTarget: Answers()})
    failed = await dispatcher.dispatch(claimed["guarded"])
    assert (failed.status, failed.error_kind) == (RunStatus.FAILURE, "secret")
    assert BOX.key_ids[0] in (failed.error_message or "")
    assert await dispatcher.dispatch(claimed["plain"]) == OK


async def test_a_ciphertext_that_was_moved_to_another_endpoint_does_not_open() -> None:
    async with emptied_database() as database:
        await StoppedClock.in_database(database, NOON + seconds(10))
        await add(database, "guarded", Authorization=Secret(SECRET))
        await add(database, "thief")
        async with database.connection() as connection:
            await connection.execute(
                "UPDATE endpoints SET secret_headers ="
                " (SELECT secret_headers FROM endpoints WHERE id = $1) WHERE id = $2",
                id_of("guarded"),
                id_of("thief"),
            )
        claimed = await claims(database, BOX)
    assert claimed["guarded"].unreadable is None
    assert claimed["thief"].unreadable is not None
