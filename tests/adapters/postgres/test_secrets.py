"""Sealed values in a real database: where they open, how they move to a new key, who signs."""

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from cadenza.adapters.postgres import secrets as module
from cadenza.adapters.postgres.accounts import PostgresSigningKeys
from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.postgres.targets import open_headers, target_values
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.adapters.secrets.keys import ConfiguredKeys, MasterKey
from cadenza.adapters.signing.standard_webhooks import new_signing_secret
from cadenza.adapters.system.ids import new_id
from cadenza.application.accounts import SigningKeyRotation
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.secret_rotation import Secrets, rotate_secrets
from cadenza.domain.access import INSTALLATION_ADMIN
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import NotFound, Refused, SecretUnreadable
from cadenza.domain.run import FinishedRun
from cadenza.domain.signing import SigningKey, keys_that_sign
from cadenza.domain.target import HttpTarget, Secret
from tests.adapters.postgres.support import World, environment, until
from tests.factories import NOON, OK, id_of, minutes, seconds
from tests.postgres import BOX, StoppedClock, run_queue

ONE, TWO = (base64.b64encode(bytes(range(n, n + 32))).decode() for n in (1, 101))
ID_OF_ONE, ID_OF_TWO = (MasterKey.of(base64.b64decode(key)).id for key in (ONE, TWO))
LEASE = seconds(30)
HEADERS = {"Authorization": Secret("Bearer tr0ub4dor"), "X-Key": Secret("kärtchen")}


def seal_headers(
    box: SecretBox, headers: Mapping[str, Secret], *, tenant_id: UUID, endpoint_id: UUID
) -> str:
    target = HttpTarget("http://example.org/", secret_headers=headers)
    _, _, _, sealed, _ = target_values(box, target, tenant_id=tenant_id, endpoint_id=endpoint_id)
    return sealed


def box_of(*keys: str) -> AesGcmBox:
    return AesGcmBox(ConfiguredKeys(",".join(keys)))


async def put(world: World, endpoint: Endpoint, box: AesGcmBox, **headers: str) -> None:
    """Seal headers for an endpoint, as its store does."""
    secrets = {name: Secret(value) for name, value in headers.items()} or HEADERS
    sealed = seal_headers(box, secrets, tenant_id=endpoint.tenant_id, endpoint_id=endpoint.id)
    await world.execute(
        "UPDATE endpoints SET secret_headers = $2 WHERE id = $1", endpoint.id, sealed
    )


async def stored(world: World, endpoint: Endpoint) -> str | None:
    return await world.value("SELECT secret_headers FROM endpoints WHERE id = $1", endpoint.id)


async def opened(world: World, endpoint: Endpoint, box: AesGcmBox) -> dict[str, Secret]:
    sealed = await stored(world, endpoint)
    return open_headers(box, sealed, tenant_id=endpoint.tenant_id, endpoint_id=endpoint.id)


async def add_many(world: World, count: int, box: AesGcmBox) -> list[Endpoint]:
    endpoints = [await world.add(f"probe{n}") for n in range(count)]
    for endpoint in endpoints:
        await put(world, endpoint, box)
    return endpoints


# --- Headers --------------------------------------------------------------------------------


async def test_headers_are_stored_sealed_and_open_for_their_endpoint(world: World) -> None:
    endpoint, box = await world.add(), box_of(ONE)
    await put(world, endpoint, box)
    text = await stored(world, endpoint)
    assert text is not None
    assert set(json.loads(text)) == set(HEADERS)
    for plain in ("tr0ub4dor", "kärtchen", "k\\u00e4rtchen"):
        assert plain not in text
    assert await opened(world, endpoint, box) == HEADERS


async def test_no_headers_are_no_value(world: World) -> None:
    assert await stored(world, await world.add()) is None


async def test_headers_that_were_copied_to_another_endpoint_or_tenant_do_not_open(
    world: World,
) -> None:
    box = box_of(ONE)
    mine, sibling = await world.add("mine"), await world.add("sibling")
    foreign = await world.add("foreign", tenant="another")
    await put(world, mine, box)
    for other in (sibling, foreign):
        await world.execute(
            "UPDATE endpoints SET secret_headers = mine.secret_headers"
            " FROM endpoints AS mine WHERE endpoints.id = $1 AND mine.id = $2",
            other.id,
            mine.id,
        )
        with pytest.raises(SecretUnreadable, match="sealed for another place"):
            await opened(world, other, box)


async def test_headers_of_one_endpoint_cannot_be_exchanged(world: World) -> None:
    endpoint, box = await world.add(), box_of(ONE)
    await put(world, endpoint, box)
    await world.execute(
        "UPDATE endpoints SET secret_headers = jsonb_build_object("
        "'Authorization', secret_headers->'X-Key', 'X-Key', secret_headers->'Authorization')"
    )
    with pytest.raises(SecretUnreadable, match="sealed for another place"):
        await opened(world, endpoint, box)


@pytest.mark.parametrize(
    "value",
    [
        '{"Authorization": "Bearer tr0ub4dor"}',
        '{"A": "v1:x:y", "B": "plain"}',
        *('{"A": 1}', '{"A": null}', '{"A": {"B": "v1:x:y"}}', '["v1:x:y"]', '"v1:x:y"', "1"),
    ],
)
async def test_the_database_refuses_headers_that_are_not_sealed(world: World, value: str) -> None:
    endpoint = await world.add()
    with pytest.raises(asyncpg.CheckViolationError):
        await world.execute(
            "UPDATE endpoints SET secret_headers = $2 WHERE id = $1", endpoint.id, value
        )


async def test_the_database_refuses_a_signing_key_that_is_not_sealed(world: World) -> None:
    await world.add()
    with pytest.raises(asyncpg.CheckViolationError):
        await world.execute(
            "INSERT INTO signing_keys VALUES ($1, $2, 'whsec_plain', now())",
            id_of("key"),
            id_of("tenant"),
        )


def test_a_target_gets_its_secrets_in_a_few_microseconds() -> None:
    box, ids = box_of(ONE), {"tenant_id": id_of("t"), "endpoint_id": id_of("e")}
    headers = {"Authorization": Secret("Bearer tr0ub4dor")}
    sealed = seal_headers(box, headers, **ids)
    target = HttpTarget("https://example.org/", headers={"Accept": "*/*"})

    def with_secrets() -> HttpTarget:
        return replace(target, secret_headers=open_headers(box, sealed, **ids))

    assert with_secrets().secret_headers == headers

    def once() -> float:
        began = perf_counter()
        for _ in range(200):
            with_secrets()
        return (perf_counter() - began) / 200

    assert min(once() for _ in range(30)) < 40e-6  # ten, where nobody else is at work


# --- Rotation -------------------------------------------------------------------------------


async def test_everything_moves_to_the_first_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 3)
    old, both, new = box_of(ONE), box_of(TWO, ONE), box_of(TWO)
    endpoints = await add_many(world, 8, old)
    await put(world, await world.add("other tenant", tenant="another"), old, X="y")
    signing = await rotate_signing_key(world, old, id_of("tenant"), timedelta(0))
    values, progress = SealedValues(world.database, both), list[int]()
    assert await values.count_by_key() == {ID_OF_ONE: 18}
    report = await values.reseal(progress.append)
    assert (report.values, report.held, report.unreadable) == (18, 0, [])
    assert progress == sorted(progress)
    assert progress[-1] == 18
    assert await values.count_by_key() == {ID_OF_TWO: 18}
    for endpoint in endpoints:
        assert await opened(world, endpoint, new) == HEADERS
    [key] = await PostgresSigningKeys(world.database, new).keys_of(id_of("tenant"))
    assert key == signing
    assert (await values.reseal()).values == 0  # a second time there is nothing to do


async def test_a_rotation_that_was_stopped_goes_on_where_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    endpoints = await add_many(world, 7, box_of(ONE))
    values = SealedValues(world.database, box_of(TWO, ONE))

    def stop(done: int) -> None:
        if done >= 6:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await values.reseal(stop)
    counts = await values.count_by_key()
    assert counts[ID_OF_TWO] >= 6
    assert counts[ID_OF_ONE] >= 1
    assert (await values.reseal()).values == counts[ID_OF_ONE]
    for endpoint in endpoints:
        assert await opened(world, endpoint, box_of(TWO)) == HEADERS


async def test_rows_that_a_worker_holds_are_taken_when_it_lets_go(world: World) -> None:
    endpoints = await add_many(world, 3, box_of(ONE))
    values = SealedValues(world.database, box_of(TWO, ONE))
    async with world.database.transaction() as holding:
        await holding.execute("SELECT FROM endpoints WHERE id = $1 FOR UPDATE", endpoints[1].id)
        resealing = asyncio.create_task(values.reseal())

        async def others_are_done() -> bool:
            return (await values.count_by_key()).get(ID_OF_TWO) == 4

        await until(others_are_done)
    report = await resealing
    assert (report.values, report.held) == (6, 0)
    assert await values.count_by_key() == {ID_OF_TWO: 6}


async def test_a_row_that_is_held_for_ever_is_left_and_reported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROUNDS", 3)
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    endpoints = await add_many(world, 2, box_of(ONE))
    async with world.database.transaction() as holding:
        await holding.execute("SELECT FROM endpoints WHERE id = $1 FOR UPDATE", endpoints[0].id)
        report = await SealedValues(world.database, box_of(TWO, ONE)).reseal()
    assert (report.values, report.held) == (2, 1)


class MeddlingBox(AesGcmBox):
    """Just before it seals anew, an owner enters another value for the same header."""

    def __init__(self, meddle: Any) -> None:
        super().__init__(ConfiguredKeys(f"{TWO},{ONE}"))
        self.meddle = meddle

    def seal(self, plain: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str:
        meddle, self.meddle = self.meddle, None
        if meddle:
            meddle()
        return super().seal(plain, tenant_id=tenant_id, row_id=row_id, column=column)


async def test_a_header_that_is_changed_meanwhile_is_not_overwritten(world: World) -> None:
    endpoint = await world.add()
    await put(world, endpoint, box_of(ONE), Authorization="before")
    changed = seal_headers(
        box_of(ONE),
        {"Authorization": Secret("after")},
        tenant_id=endpoint.tenant_id,
        endpoint_id=endpoint.id,
    )

    def meddle() -> None:
        asyncio.run(_change())

    async def _change() -> None:
        connection = await asyncpg.connect(world.url)
        await connection.execute("UPDATE endpoints SET secret_headers = $1", changed)
        await connection.close()

    box = MeddlingBox(lambda: _in_thread(meddle))
    report = await SealedValues(world.database, box).reseal()
    assert report.values == 1
    assert await opened(world, endpoint, box_of(TWO)) == {"Authorization": Secret("after")}


def _in_thread(step: Any) -> None:
    """The loop stands still meanwhile, as it does while a value is sealed."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        pool.submit(step).result()


async def test_what_does_not_open_stays_as_it_is_and_is_reported(world: World) -> None:
    good, lost, moved = [await world.add(name) for name in ("good", "lost", "moved")]
    await put(world, good, box_of(ONE))
    await put(world, lost, box_of(base64.b64encode(bytes(range(200, 232))).decode()))
    await world.execute(
        "UPDATE endpoints SET secret_headers = $2 WHERE id = $1",
        moved.id,
        await stored(world, good),
    )
    before = await stored(world, lost)
    values = SealedValues(world.database, box_of(TWO, ONE))
    report = await values.reseal()
    assert report.values == 2
    assert {value.row_id for value in report.unreadable} == {lost.id, moved.id}
    assert len(report.unreadable) == 4
    assert any("which this program does not have" in value.why for value in report.unreadable)
    assert await stored(world, lost) == before
    assert await opened(world, good, box_of(TWO)) == HEADERS


async def test_one_header_that_is_lost_does_not_hold_back_the_others(world: World) -> None:
    endpoint = await world.add()
    await put(world, endpoint, box_of(ONE))
    await world.execute(
        "UPDATE endpoints SET secret_headers = secret_headers"
        " || jsonb_build_object('Lost', 'v1:0123456789abcdef:' || repeat('A', 60))"
    )
    report = await SealedValues(world.database, box_of(TWO, ONE)).reseal()
    assert report.values == 2
    assert [value.column for value in report.unreadable] == ["endpoints.secret_headers:Lost"]


async def test_claims_and_finishes_go_on_while_secrets_are_encrypted_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 5)
    endpoints = await add_many(world, 20, box_of(ONE))
    queue = run_queue(world.database, new_id, BOX)

    async def work(name: str) -> int:
        done = 0
        while sum(await asyncio.gather(*(_runs(world, endpoint) for endpoint in endpoints))) < 20:
            batch = await queue.claim_due(ClaimRequest(name, limit=3, lease=LEASE))
            now = await world.now()
            finished = [FinishedRun(claim, OK, now, now) for claim in batch.claims]
            report = await queue.finish(finished)
            done += len(finished) - len(report.late)
        return done

    working = [asyncio.create_task(work(name)) for name in "ab"]
    turns = 0
    while not all(task.done() for task in working) or turns % 2:
        first, second = (ONE, TWO) if turns % 2 else (TWO, ONE)
        report = await SealedValues(world.database, box_of(first, second)).reseal()
        assert (report.values, report.held) == (40, 0)
        turns += 1
    assert sum([await task for task in working]) == 20
    assert turns >= 2
    for endpoint in endpoints:
        assert await opened(world, endpoint, box_of(ONE)) == HEADERS


async def _runs(world: World, endpoint: Endpoint) -> int:
    return len([run for run in await world.runs(endpoint) if run["finished_at"]])


async def test_two_rotations_at_once_are_refused(world: World) -> None:
    values = SealedValues(world.database, box_of(ONE))
    async with values.rotating():
        with pytest.raises(Refused, match="Another rotation is under way"):
            async with values.rotating():
                pass
    async with values.rotating():  # and it is free again
        pass


async def test_keys_in_a_setting_are_taken_as_they_are(world: World) -> None:
    await add_many(world, 2, box_of(ONE))
    keys = ConfiguredKeys(f"{TWO},{ONE}")
    secrets = Secrets(SealedValues(world.database, AesGcmBox(keys)), keys, add_key=None)
    done = await rotate_secrets(secrets)
    assert (done.made_key, done.done.values, done.complete) == (False, 4, True)
    assert done.holdings.removable == [ID_OF_ONE]
    again = await rotate_secrets(secrets)
    assert (again.made_key, again.done.values, again.complete) == (False, 0, True)


async def test_a_worker_that_runs_during_a_rotation_reads_the_new_key(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "master.key"
    running = AesGcmBox(KeyFile(path, pytest.fail))
    [endpoint] = await add_many(world, 1, running)
    keys = KeyFile(path, pytest.fail)
    values = SealedValues(world.database, AesGcmBox(keys))
    done = await rotate_secrets(Secrets(values, keys, keys.add_key))
    assert (done.made_key, done.done.values) == (True, 2)
    assert await opened(world, endpoint, running) == HEADERS


# --- The command ----------------------------------------------------------------------------

COMMAND = "from cadenza.roots.secrets import cli; cli()"


def cadenza(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "secrets", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**environment(url, data_folder=folder), "TERMINAL_WIDTH": "200", "NO_COLOR": "1"},
    )


async def test_the_command_makes_a_key_moves_everything_and_lists_what_can_go(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "master.key"
    box = AesGcmBox(KeyFile(path, pytest.fail))
    first = box.key_ids[0]
    [endpoint] = await add_many(world, 1, box)
    done = await asyncio.to_thread(cadenza, world.url, tmp_path, "rotate", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    output = json.loads(done.stdout)
    assert (output["made_key"], output["encrypted"], output["unreadable"]) == (True, 2, [])
    assert output["removable"] == [first]
    assert output["missing"] == {}
    assert output["keys"][0] == {"id": output["key_id"], "writes": True, "values": 2}
    assert await opened(world, endpoint, box) == HEADERS

    # The admin puts a key of their own first: that one is taken, and none is made.
    path.write_text(f"{ONE}\n{path.read_text()}")
    done = await asyncio.to_thread(cadenza, world.url, tmp_path, "rotate")
    assert done.returncode == 0
    assert f"Continued with the key {ID_OF_ONE}; no new key was made" in done.stdout
    assert f"Encrypted 2 values with the key {ID_OF_ONE}." in done.stdout
    assert f"The key {first} is no longer used" in done.stdout
    assert "2 of 2 values encrypted" in done.stderr


async def test_the_command_tells_of_a_lost_key_and_ends_with_an_error(
    world: World, tmp_path: Path
) -> None:
    await add_many(world, 1, box_of(ONE))
    status = await asyncio.to_thread(cadenza, world.url, tmp_path, "status")
    assert status.returncode == 1
    assert ID_OF_ONE in status.stdout
    assert "missing" in status.stdout
    assert f"Put the key into {tmp_path / 'master.key'}" in status.stderr
    done = await asyncio.to_thread(cadenza, world.url, tmp_path, "rotate")
    assert done.returncode == 1
    assert "2 values could not be read and stay as they are" in done.stderr
    assert f"master key {ID_OF_ONE}" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_help_shows_an_example(tmp_path: Path) -> None:
    help_text = cadenza("postgresql://unused/", tmp_path, "rotate", "--help")
    assert help_text.returncode == 0
    assert "Example: cadenza secrets rotate --json" in help_text.stdout


# --- Signing keys ---------------------------------------------------------------------------


async def rotate_signing_key(
    world: World, box: AesGcmBox, tenant_id: UUID, overlap: timedelta
) -> SigningKey:
    rotation = SigningKeyRotation(PostgresStore(world.database, box), new_id)
    return await rotation.rotate(INSTALLATION_ADMIN, tenant_id, new_signing_secret(), overlap)


class Signing:
    """A tenant's signing keys, under a clock that the test moves."""

    def __init__(self, world: World, clock: StoppedClock, *keys: str) -> None:
        self.clock = clock
        self.tenant_id = id_of("tenant")
        self.world = world
        self.box = box_of(*(keys or (ONE,)))
        self.keys = PostgresSigningKeys(world.database, self.box)

    @classmethod
    async def of(cls, world: World) -> "Signing":
        await world.add()
        return cls(world, await StoppedClock.in_database(world.database, NOON))

    async def rotate(self, overlap: timedelta = timedelta(0)) -> SigningKey:
        return await rotate_signing_key(self.world, self.box, self.tenant_id, overlap)

    async def signing(self) -> Sequence[Secret]:
        keys = await self.keys.keys_of(self.tenant_id)
        return [key.secret for key in keys_that_sign(keys, await self.clock.now())]


async def test_keys_follow_each_other_with_an_overlap(world: World) -> None:
    signing = await Signing.of(world)
    assert await signing.signing() == []
    first = await signing.rotate()
    assert await signing.signing() == [first.secret]
    await signing.clock.set(NOON + minutes(1))
    second = await signing.rotate(minutes(10))
    assert await signing.signing() == [second.secret, first.secret]
    await signing.clock.set(NOON + minutes(11) - seconds(1))
    assert await signing.signing() == [second.secret, first.secret]
    await signing.clock.set(NOON + minutes(11))
    assert await signing.signing() == [second.secret]
    await signing.clock.set(NOON + minutes(12))
    third = await signing.rotate(minutes(10))
    assert await signing.signing() == [third.secret, second.secret]
    assert await world.value("SELECT count(*) FROM signing_keys") == 2  # the ended one is gone


async def test_a_third_key_is_refused_and_changes_nothing(world: World) -> None:
    signing = await Signing.of(world)
    await signing.rotate()
    await signing.clock.set(NOON + seconds(1))
    await signing.rotate(minutes(10))
    before = await signing.signing()
    with pytest.raises(Refused, match="Two keys sign already"):
        await signing.rotate(minutes(10))
    assert await signing.signing() == before
    await signing.clock.set(NOON + seconds(2))
    last = await signing.rotate()  # without an overlap: both end at once
    assert await signing.signing() == [last.secret]


async def test_keys_made_at_the_same_time_never_become_three(world: World) -> None:
    signing = await Signing.of(world)
    await signing.rotate()
    await signing.clock.set(NOON + seconds(1))
    made = await asyncio.gather(
        *(signing.rotate(minutes(10)) for _ in range(6)), return_exceptions=True
    )
    assert sum(isinstance(key, SigningKey) for key in made) == 1
    assert sum(isinstance(key, Refused) for key in made) == 5
    assert len(await signing.signing()) == 2


async def test_secrets_of_keys_are_sealed_and_belong_to_their_tenant(world: World) -> None:
    signing = await Signing.of(world)
    key = await signing.rotate()
    other = await world.add("foreign", tenant="another")
    text = await world.value("SELECT secret FROM signing_keys")
    assert key.secret.value.removeprefix("whsec_") not in text
    assert await signing.keys.keys_of(other.tenant_id) == []
    await world.execute("UPDATE signing_keys SET tenant_id = $1", other.tenant_id)
    with pytest.raises(SecretUnreadable, match=r"signing_keys\.secret does not open"):
        await signing.keys.keys_of(other.tenant_id)
    with pytest.raises(NotFound):
        await rotate_signing_key(world, signing.box, id_of("nobody"), timedelta(0))


async def test_after_a_lost_master_key_a_new_signing_key_heals(world: World) -> None:
    signing = await Signing.of(world)
    await signing.rotate()
    later = Signing(world, signing.clock, TWO)
    with pytest.raises(SecretUnreadable, match=ID_OF_ONE):
        await later.signing()
    await signing.clock.set(NOON + seconds(1))
    key = await later.rotate(minutes(10))
    assert await later.signing() == [key.secret]


async def test_keys_go_with_their_tenant(world: World) -> None:
    signing = await Signing.of(world)
    await signing.rotate()
    await world.execute("DELETE FROM tenants WHERE id = $1", signing.tenant_id)
    assert await world.value("SELECT count(*) FROM signing_keys") == 0
