"""The endpoints of a run with real programs: plain, steered, and with hostile targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.signing.standard_webhooks import new_signing_secret
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.application.ports.catalogue import StoredJob
from cadenza.domain.access import Tenant
from cadenza.domain.billing import Account, ModelApi, VirtualKey
from cadenza.domain.endpoint import CronLine, Every, Job
from cadenza.domain.grant import EXECUTE_ANY, Grant
from cadenza.domain.graph import GraphLimits
from cadenza.domain.graph_target import GraphTarget, Mandate
from cadenza.domain.rule import ALL_ACT
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import HttpTarget, Secret
from tests.chaos.history import Spec
from tests.direct import Direct
from tests.factories import CRON, make_endpoint, seconds
from tests.postgres import BOX

TENANTS = 3
ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York")
HOSTILE = ("fails/0.02", "hangs/0", "drips/0", "lies/0.01", "waits/0.01")


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    path: str
    every: float | None
    count: int
    plain: bool = True


def kinds_of(scale: int) -> Sequence[Kind]:
    """For a scale of 1 some forty runs a second."""
    hostile = [Kind(path.split("/")[0], path, 2, scale, plain=False) for path in HOSTILE]
    return (
        Kind("quick", "quick/0", 1, 20 * scale),
        Kind("slow", "slow/0.3", 2, 10 * scale),
        Kind("long", "slow/1.5", 3, 6 * scale),
        Kind("longest", "slow/7", 10, 2 * scale),  # longer than a lease
        Kind("owed", "owes/1.5", 4, scale),  # which takes far longer where it is sent again
        Kind("minutely", "quick/0", None, 4 * scale),
        Kind("steered", "quick/0.05", 2, 6 * scale, plain=False),
        *hostile,
    )


@dataclass(slots=True)
class Furnished:
    specs: dict[UUID, Spec]
    secrets: dict[UUID, str]  # of tenants


async def furnish(database: Database, base_url: str, seed: int, kinds: Sequence[Kind]) -> Furnished:
    store, chance = PostgresStore(database, BOX), SeededChance(seed)
    direct, furnished = Direct(store, CRON), Furnished({}, {})
    tenants = [chance.id_of(f"tenant {number}") for number in range(TENANTS)]
    async with store.transaction() as tx:
        now = await tx.time()
        for tenant_id in tenants:
            secret = new_signing_secret()
            furnished.secrets[tenant_id] = secret.value
            await tx.insert_tenant(Tenant(tenant_id, str(tenant_id), now, modes=ALL_ACT))
            await tx.insert_signing_key(SigningKey(uuid4(), tenant_id, secret, now))
            await tx.insert_jobs([StoredJob(Job(tenant_id, tenant_id, "chaos"), now, now)])
    for kind in kinds:
        for number in range(kind.count):
            spec = await _add(direct, base_url, kind, number, tenants, now)
            furnished.specs[spec.endpoint_id] = spec
    return furnished


async def _add(
    direct: Direct, base_url: str, kind: Kind, number: int, tenants: Sequence[UUID], now: datetime
) -> Spec:
    zone = ZONES[number % len(ZONES)]
    every = seconds(kind.every) if kind.every is not None else None
    tenant_id = tenants[number % len(tenants)]
    endpoint = make_endpoint(
        f"{kind.name} {number}",
        id=uuid4(),
        tenant_id=tenant_id,
        job_id=tenant_id,
        baseline=Every(every) if every else CronLine("* * * * *", zone),
        created_at=now,
        spread=seconds(3),
    )
    timeout = seconds(2) if kind.name in ("hangs", "drips") else seconds(30)
    target = HttpTarget(f"{base_url}/{kind.path}/{number}", timeout=timeout)
    endpoint = await direct.add_endpoint(endpoint, target)
    assert endpoint.plan is not None
    since, cron = endpoint.plan.inputs.now, None if every else "* * * * *"
    return Spec(endpoint.id, tenant_id, endpoint.name, since, every, cron, zone, kind.plain)


async def furnish_graphs(
    database: Database, base_url: str, marks: Path, count: int, now: datetime
) -> list[Spec]:
    """Endpoints whose target is a graph: a slot of theirs is started and charged at most once."""
    store, tenant_id, user_id = PostgresStore(database, BOX), uuid4(), uuid4()
    account = Account(uuid4(), tenant_id, "main", 0, now)
    grant = Grant(uuid4(), tenant_id, user_id, account.id, (EXECUTE_ANY,), now)
    async with store.transaction() as tx:
        await tx.insert_tenant(Tenant(tenant_id, "graphs", now, modes=ALL_ACT))
        await tx.insert_account(account)
        await tx.add_entry(account, 1_000_000, "start", "start")
        key = VirtualKey(
            uuid4(),
            account.id,
            "receiver",
            ModelApi.OPENAI,
            f"{base_url}/models/v1",
            "6789",
            True,
            now,
        )
        await tx.insert_virtual_key(account, key, Secret("chaos-key-0123456789"))
        await tx.insert_grant(grant)
        await tx.insert_jobs([StoredJob(Job(tenant_id, tenant_id, "graphs"), now, now)])
    mandate, specs = Mandate(grant.id, user_id, account.id), list[Spec]()
    for number in range(count):
        ids = {"id": uuid4(), "tenant_id": tenant_id, "job_id": tenant_id}
        endpoint = make_endpoint(
            f"graph {number}",
            **ids,
            baseline=Every(seconds(2)),
            created_at=now,
            spread=seconds(3),
        )
        values = {"mark": str(marks), "endpoint": str(endpoint.id), "takes": 0.3}
        target = GraphTarget(
            "python:marking:marks", values, GraphLimits(), account="main", mandate=mandate
        )
        endpoint = await Direct(store, CRON).add_endpoint(endpoint, target)
        specs.append(Spec(endpoint.id, tenant_id, endpoint.name, now, seconds(2), plain=False))
    return specs
