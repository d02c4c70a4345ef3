"""Something of everything that a tenant can have, so that there is something to lose."""

from typing import Any
from uuid import UUID, uuid4

from cadenza.application.ports.planning import Reservation
from cadenza.application.sessions import record_analyses
from cadenza.domain.access import Scope, hash_of
from cadenza.domain.billing import Charge, TokenUsage
from cadenza.domain.delivery import Delivery, Subscription
from cadenza.domain.endpoint import Job
from cadenza.domain.grant import GrantUse
from cadenza.domain.graph import GraphResult
from cadenza.domain.incident import Condition, IncidentKind, opened
from cadenza.domain.notification import Announcement, Channel, Route, notified
from cadenza.domain.result import AwaitedResult
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.target import Secret
from tests.factories import FAILED, minutes, seconds
from tests.web.graph_schedules import create_schedule, end_run, start_run
from tests.web.support import House, Site
from tests.web.walking import Operation

SECRET = "hunter2-of-the-first-tenant"
MARK = "gazebo"  # in every name and text that we have
ANSWERED = Outcome(RunStatus.SUCCESS, status_code=200, body=f"the {MARK} answered")


async def furnish(site: Site, house: House) -> dict[str, Any]:
    """A job with an endpoint, runs, a session, events, keys and the like; gives the endpoint."""
    job = await house.job(f"{MARK} job", description=f"the {MARK} in the garden")
    endpoint = await house.endpoint(
        job,
        f"{MARK} endpoint",
        url=f"https://{MARK}.example/",
        cron="0 3 1 1 *",  # nothing but what is asked for comes due while a test runs
        secret_headers={"X-Api-Key": SECRET},
    )
    path = f"/endpoints/{endpoint['id']}"
    hint = {"interval": "2m", "reason": f"the {MARK} is busy"}
    await house.done("POST", f"{path}/hints/interval", hint)
    key = await house.done("POST", "/keys", {"name": f"{MARK} key", "scopes": ["read"]})
    await house.done("POST", "/signing-keys", {})
    run_id = await _run(site, house, path)
    await _expect_result(site, house, run_id, UUID(endpoint["id"]))
    session = await _analyse(site, house, endpoint)
    money = await _account(site, house)
    scheduled = await _schedule(site, house, money["accounts"])
    notifications = await _notifications(site, house)
    await site.app.state.dependencies.sign_ins.with_key(house.keys[Scope.READ])
    await house.done("POST", "/planner/stop", {"reason": MARK})
    await house.done("POST", "/sign-in-links")
    await site.backend.stores.event_log.watch(house.tenant_id)
    quotas = site.backend.quotas()
    owner = Job(UUID(job["id"]), house.tenant_id, job["name"])
    assert isinstance(await quotas.reserve(owner, 5), Reservation)
    person, _ = await site.app.state.dependencies.tenants.create_user(
        house.tenant_id, f"{MARK} person"
    )
    roles = {"role": "viewer", "jobs": [{"job_id": job["id"], "role": "operator"}]}
    await house.done("PUT", f"/people/{person.id}/role", roles)
    invited = {"email": f"{MARK}@{house.name}.example", "role": "viewer"}
    invitation = await house.done("POST", "/invitations", invited)
    wanted = {"email": f"{MARK}@job.example", "role": "viewer"}
    to_job = await house.done("POST", f"/jobs/{job['id']}/invitations", wanted)
    of_job = {"name": f"{MARK} key of a job", "scopes": ["read"]}
    job_key = await house.done("POST", f"/jobs/{job['id']}/keys", of_job)
    house.ids |= {
        "people": str(person.id),
        "job_invitation_id": to_job["id"],
        "job_key_id": job_key["id"],
        "invitations": invitation["id"],
        "jobs": job["id"],
        "endpoints": endpoint["id"],
        "runs": str(run_id),
        "sessions": str(session.id),
        "keys": key["id"],
        **money,
        **scheduled,
        **notifications,
    }
    return endpoint


async def _notifications(site: Site, house: House) -> dict[str, str]:
    """A channel with a route, a webhook with a delivery, and an incident that was told."""
    async with site.backend.store.transaction() as tx:
        now, tenant_id = await tx.time(), house.tenant_id
        channel = Channel(uuid4(), tenant_id, f"{MARK} channel", "JSON", "json://…", now)
        await tx.insert_channel(channel, Secret(f"json://{MARK}.example/{SECRET}"))
        route = Route(uuid4(), tenant_id, channel.id, now)
        await tx.insert_route(route)
        url = f"https://{MARK}.example/hook"
        webhook = Subscription(uuid4(), tenant_id, f"{MARK} webhook", url, now, ("no.such",))
        await tx.insert_subscription(webhook)
        known = (uuid4(), tenant_id, "event", "run.failed", {"type": MARK}, now, now)
        delivery = Delivery(*known, subscription_id=webhook.id)
        await tx.insert_deliveries([delivery])
        condition = Condition(tenant_id, IncidentKind.QUOTA, MARK, f"the {MARK}", now, 80)
        incident = opened(condition, None, now, uuid4())
        await tx.save_incidents([incident])
        announcement = notified(Announcement(route.id, incident.id), incident, now)
        await tx.save_announcements([(announcement, incident)])
    return {
        "channels": str(channel.id),
        "routes": str(route.id),
        "webhooks": str(webhook.id),
        "deliveries": str(delivery.id),
        "incidents": str(incident.id),
    }


async def _account(site: Site, house: House) -> dict[str, str]:
    """One that has paid for a call, with a key and a grant that was used."""
    account = await house.done("POST", "/accounts", {"name": f"{MARK} account"})
    path, account_id = f"/accounts/{account['id']}", UUID(account["id"])
    entry = {"credits": 1000, "reason": f"the {MARK} pays", "reference": "first"}
    await house.done("POST", f"{path}/credits", entry)
    provider = {"api": "openai", "base_url": f"https://{MARK}.example/v1", "secret_key": SECRET}
    key = await house.done("POST", f"{path}/keys", {"name": f"{MARK} provider", **provider})
    scopes = ["graph:execute:*"]
    grant = await house.done("POST", "/grants", {"account_id": account["id"], "scopes": scopes})
    run_id, graph_id = uuid4(), f"python:{MARK}"
    charge = Charge(
        account_id,
        house.tenant_id,
        run_id,
        1,
        "1",
        f"{MARK} model",
        TokenUsage(10, 5),
        15,
        graph_id=graph_id,
    )
    async with site.backend.store.transaction() as tx:
        await tx.add_charge(charge)
        await tx.log_grant_uses([GrantUse(UUID(grant["id"]), run_id, graph_id)])
    return {"accounts": account["id"], "virtual_key_id": key["id"], "grants": grant["id"]}


async def _schedule(site: Site, house: House, account_id: str) -> dict[str, str]:
    """One whose run has said something, and waits for an answer."""
    schedule = await create_schedule(
        house,
        name=f"{MARK} schedule",
        graph_id=f"python:{MARK}",
        input={"topic": MARK},
        account_id=account_id,
    )
    claim = await start_run(site, house, schedule)
    await end_run(
        site.backend, claim, GraphResult(question=f"the {MARK}?", state=b"kept"), events=2
    )
    return {"schedules": schedule["id"], "schedule_run_id": str(claim.run_id)}


async def _run(site: Site, house: House, path: str) -> UUID:
    """One that failed, and one with a lost attempt and a late result; gives the second."""
    await house.done("POST", f"{path}/run")
    assert await site.backend.run_due(FAILED) == 1
    await house.done("POST", f"{path}/run")
    return await site.backend.run_with_a_lost_attempt(FAILED, ANSWERED)


async def _expect_result(site: Site, house: House, run_id: UUID, endpoint_id: UUID) -> None:
    """As of a run that waited for its result, whose token House.ask sends."""
    token = hash_of(f"cdzr_{house.name}")
    async with site.backend.store.transaction() as tx:
        awaited = AwaitedResult(run_id, 1, house.tenant_id, endpoint_id, token)
        await tx.insert_awaited(awaited)


async def _analyse(site: Site, house: House, endpoint: dict[str, Any]) -> Session:
    """It suggests something, and nobody has accepted it yet."""
    now = await site.now()
    reason = {"reason": f"the {MARK} is calm"}
    call = ToolCall(
        "clear_hints", reason, {"ok": True}, suggested=True, holds_until=now + minutes(60)
    )
    session = Session(
        id=uuid4(),
        tenant_id=house.tenant_id,
        job_id=UUID(endpoint["job_id"]),
        endpoint_id=UUID(endpoint["id"]),
        brain="rules",
        started_at=now,
        duration=seconds(1),
        end=SessionEnd.SUBMITTED,
        tool_calls=(call,),
        reasoning=f"the {MARK} is calm",
    )
    await record_analyses(site.backend.store, [session], "test")
    return session


def id_of(house: House, kind: str) -> str:
    """The id of one of the house's own, by what stands in the path before it."""
    ids = {"tenants": str(house.tenant_id), "users": str(house.user_id), **house.ids}
    assert kind in ids, f"furnish() makes no {kind}, and a route asks for one"
    return ids[kind]


def path_to(house: House, operation: Operation) -> str:
    """The operation's path with ids of that house in it."""
    path = operation.short_path
    for name, kind in operation.collections().items():
        # Keys of accounts and runs of graphs stand where others do, and have another name.
        path = path.replace(f"{{{name}}}", house.ids.get(name) or id_of(house, kind))
    assert "{" not in path, f"the walker cannot fill {path}"
    return path
