"""How runs ended is noted beside them, once, by whatever statement ends them."""

from collections.abc import Sequence
from uuid import uuid4

from cadenza.adapters.postgres.migrate import migrations
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from tests.adapters.postgres.support import World
from tests.factories import FAILED, OK, seconds
from tests.postgres import BOX, run_queue

CANCELLED = Outcome(RunStatus.CANCELLED, "worker_stopped")


def queue_of(world: World) -> ClaimedRuns:
    return run_queue(world.database, uuid4, BOX)


async def claims_of(world: World, *names: str, tenant: str = "tenant") -> Sequence[Claim]:
    for name in names:
        await world.add(name, tenant=tenant)
    await world.execute("UPDATE endpoints SET next_run_at = cadenza_now()")
    batch = await queue_of(world).claim_due(ClaimRequest("worker", 100, seconds(30)))
    assert len(batch.claims) == len(names)
    return batch.claims


async def end(world: World, claims: Sequence[Claim], *outcomes: Outcome) -> None:
    now = await world.now()
    ended = zip(claims, outcomes, strict=True)
    await queue_of(world).finish([FinishedRun(claim, how, now, now) for claim, how in ended])


async def counts(world: World) -> dict[str, int]:
    rows = await world.rows("SELECT status, sum(runs)::int AS runs FROM run_counts GROUP BY status")
    return {row["status"]: row["runs"] for row in rows}


async def failed(world: World) -> dict[str, str]:
    rows = await world.rows(
        "SELECT e.name, f.status FROM failed_runs AS f JOIN endpoints AS e ON e.id = f.endpoint_id"
        " JOIN runs AS r ON (r.endpoint_id, r.slot_at, r.id, r.tenant_id, r.source, r.is_manual)"
        " = (f.endpoint_id, f.slot_at, f.id, f.tenant_id, f.source, f.is_manual)"
    )
    return {row["name"]: row["status"] for row in rows}


async def test_each_run_is_counted_by_its_end_and_the_bad_ones_are_listed(world: World) -> None:
    claims = await claims_of(world, "a", "b", "c", "d")
    assert await counts(world) == {}
    await end(world, claims, OK, FAILED, OK, CANCELLED)
    assert await counts(world) == {"success": 2, "failure": 1, "cancelled": 1}
    bad = {claims[1].endpoint_name: "failure", claims[3].endpoint_name: "cancelled"}
    assert await failed(world) == bad


async def test_what_is_lost_is_counted_when_it_is_closed(world: World) -> None:
    """Takeovers and late results change nothing here."""
    (claim,) = await claims_of(world, "a")
    for _ in range(3):
        await world.execute("UPDATE endpoints SET lease_until = cadenza_now() - interval '1 s'")
        batch = await queue_of(world).claim_due(ClaimRequest("worker", 100, seconds(30)))
        assert [claim.slot_at for claim in batch.claims] == [claim.slot_at]
    assert await counts(world) == {}
    await end(world, [claim], OK)  # an old epoch
    assert await counts(world) == {}
    await end(world, batch.claims, Outcome(RunStatus.TIMEOUT, "worker_lost"))
    assert await counts(world) == {"timeout": 1}
    assert await failed(world) == {"a": "timeout"}


async def test_tenants_are_counted_apart(world: World) -> None:
    await end(world, await claims_of(world, "a", "b"), OK, OK)
    await world.execute("UPDATE endpoints SET archived_at = cadenza_now(), next_run_at = NULL")
    await world.add("c", tenant="other")
    await world.execute("UPDATE endpoints SET next_run_at = cadenza_now() WHERE name = 'c'")
    batch = await queue_of(world).claim_due(ClaimRequest("worker", 100, seconds(30)))
    await end(world, batch.claims, OK)
    rows = await world.rows("SELECT tenant_id, runs FROM run_counts ORDER BY runs")
    assert [row["runs"] for row in rows] == [1, 2]
    assert len({row["tenant_id"] for row in rows}) == 2


async def test_what_ended_before_the_migration_is_noted_by_it(world: World) -> None:
    """By its own text, once more: what is there already stays as it is."""
    await end(world, await claims_of(world, "a", "b"), OK, FAILED)
    noted = await failed(world)
    await world.execute("TRUNCATE run_counts, failed_runs")
    await world.execute("UPDATE schema_migrations SET applied_at = cadenza_now()")
    (before,) = [migration for migration in migrations() if migration.name == "runs_ended_before"]
    await world.execute(before.sql)
    assert await counts(world) == {"success": 1, "failure": 1}
    assert await failed(world) == noted
