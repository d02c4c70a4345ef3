"""Who has a role for single jobs sees and touches those alone, over every route there is."""

from datetime import datetime
from typing import Any, get_args
from uuid import UUID, uuid4

from fastapi.routing import APIRoute

from cadenza.application.job_limits.store import PASSED, LimitedTransaction
from cadenza.application.ports.store import Transaction
from cadenza.domain.access import Scope
from cadenza.domain.people import Role
from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from cadenza.web.api.access import Admin, Operator, Reader
from cadenza.web.api.app import storeless_app
from cadenza.web.api.dependencies import dependencies_of_caller
from tests.factories import seconds
from tests.web.furniture import MARK, SECRET, furnish, path_to
from tests.web.support import OPERATE, READ, House, Site, bearer
from tests.web.walking import Operation, operations

OF_TENANTS = [
    operation for operation in operations() if not operation.of_admin and not operation.streams
]
CALLERS = {get_args(caller)[1].dependency for caller in (Reader, Operator, Admin)}
# Of the whole tenant, and shown to everybody in it.
SHOWN_TO_ALL = ("/users", "/tenant", "/me", "/ids", "/planner")


async def limited(site: Site, house: House, **jobs: Role) -> House:
    """Somebody of the same tenant who has these roles for single jobs, by their ids."""
    dependencies = site.app.state.dependencies
    user, _ = await dependencies.tenants.create_user(house.tenant_id, "eve")
    person = House(house.client, house.tenant_id, house.name, user.id)
    for scope in (READ, OPERATE):
        body = {"name": f"of eve {scope}", "scopes": [scope], "user_id": str(user.id)}
        person.keys[scope] = (await house.done("POST", "/keys", body))["key"]
    person.keys[Scope.ADMIN] = person.keys[OPERATE]
    roles = [{"job_id": job_id, "role": role} for job_id, role in jobs.items()]
    await house.done("PUT", f"/people/{user.id}/role", {"jobs": roles})
    return person


def _body(operation: Operation) -> dict[str, Any]:
    return {} if operation.body is None else {"json": operation.body}


async def test_every_route_shows_and_touches_nothing_of_another_job(site: Site) -> None:
    await furnish(site, site.ours)
    mine = await site.ours.job("mine")
    await site.ours.endpoint(mine, "my own")
    person = await limited(site, site.ours, **{mine["id"]: Role.OPERATOR})
    await person.done("GET", "/me")
    before = await _rows(site)
    for operation in OF_TENANTS:
        path = path_to(site.ours, operation)
        method = operation.method.upper()
        answer = await person.ask(method, path, OPERATE, **_body(operation))
        assert answer.status_code < 500, f"{operation}: {answer.text}"
        if operation.short_path not in SHOWN_TO_ALL:
            for hidden in (MARK, SECRET):
                assert hidden not in answer.text, f"{operation} shows {hidden}: {answer.text}"
        job_ids = {site.ours.ids[kind] for kind in ("jobs", "endpoints", "runs", "sessions")}
        with_token = operation.short_path == "/runs/{run_id}/result"  # it asks nobody's key
        if any(job_id in path for job_id in job_ids) and not with_token:
            assert answer.status_code == 404, f"{operation}: {answer.status_code} {answer.text}"
        assert await _rows(site) == before, f"{operation} has changed something"


async def _rows(site: Site) -> Any:
    """What is stored of the other job, and of the tenant."""
    contents = await site.contents()
    return {
        name: rows
        for name, rows in contents.items()
        if name in ("jobs", "schedules", "accounts", "execution_grants", "grants", "invitations")
    }


async def test_what_is_ones_own_works(site: Site) -> None:
    """Else the walk above would prove nothing."""
    mine, other = await site.ours.job("mine"), await site.ours.job("other")
    own = await site.ours.endpoint(mine, "my own")
    foreign = await site.ours.endpoint(other, "not mine")
    person = await limited(site, site.ours, **{mine["id"]: Role.OPERATOR})
    listed = await person.done("GET", "/jobs")
    assert [job["name"] for job in listed["items"]] == ["mine"]
    endpoints = await person.done("GET", "/endpoints")
    assert [endpoint["name"] for endpoint in endpoints["items"]] == ["my own"]
    await person.done("POST", f"/endpoints/{own['id']}/pause", {"reason": "mine"})
    bulk = {"endpoint_ids": [own["id"], foreign["id"]], "action": "resume"}
    acted = await person.done("POST", "/endpoint-actions", bulk)
    assert {row["endpoint_id"]: row["result"] for row in acted["items"]} == {
        own["id"]: "done",
        foreign["id"]: "not-found",
    }
    await person.done("PATCH", f"/jobs/{mine['id']}", {"description": "still mine"})
    exported = await person.done("GET", "/manifest")
    assert [job["name"] for job in exported["jobs"]] == ["mine"]
    again = await person.ask("PUT", "/manifest", OPERATE, json=exported, params={"prune": True})
    assert again.status_code == 200, again.text
    assert (await site.ours.done("GET", f"/jobs/{other['id']}"))["archived_at"] is None
    found = await person.done("GET", "/search", params={"q": "mi"})
    assert [job["name"] for job in found["jobs"]] == ["mine"]
    usage = await person.done("GET", "/tenant/usage")
    assert (usage["jobs"], usage["endpoints"]) == (1, 1)
    me = await person.done("GET", "/me")
    assert me["job_ids"] == me["operable_job_ids"] == [mine["id"]]


async def test_usage_counts_the_runs_of_ones_own_job_by_how_they_ended(site: Site) -> None:
    mine, other = await site.ours.job("mine"), await site.ours.job("other")
    own = await site.ours.endpoint(mine, "own")
    foreign = await site.ours.endpoint(other, "foreign")
    person = await limited(site, site.ours, **{mine["id"]: Role.VIEWER})
    slot_at = await site.now()
    for endpoint in (own, own, foreign):
        for status in RunStatus:
            slot_at -= seconds(1)
            await site.backend.insert_run(_run(site.ours, endpoint, slot_at, status))
    usage = await person.done("GET", "/tenant/usage")
    counts = {status.value: usage["last_hour"][status.value] for status in RunStatus}
    assert counts == dict.fromkeys(RunStatus, 2)


def _run(house: House, endpoint: dict[str, Any], slot_at: datetime, status: RunStatus) -> Run:
    return Run(
        uuid4(),
        UUID(endpoint["id"]),
        house.tenant_id,
        slot_at,
        Source.BASELINE_INTERVAL,
        status,
        1,
        1,
        slot_at,
        started_at=slot_at,
        finished_at=None if status is RunStatus.RUNNING else slot_at,
    )


async def test_runs_and_sessions_of_ones_own_job_are_listed_and_others_are_not(site: Site) -> None:
    await furnish(site, site.ours)
    person = await limited(site, site.ours, **{site.ours.ids["jobs"]: Role.VIEWER})
    other = await site.ours.job("other")
    stranger = await limited_named(site, "mallory", other["id"])
    for path in ("/runs", "/sessions", "/suggestions", "/endpoints", "/activity/planner"):
        assert (await person.done("GET", path, scope=READ))["items"], path
        assert (await stranger.done("GET", path, scope=READ))["items"] == [], path
    states = await stranger.done("GET", "/activity/states", scope=READ)
    assert states["total"] == 0
    for kind in ("jobs", "endpoints", "runs", "sessions"):
        wanted = {"kind": kind[:-1], "begins": site.ours.ids[kind][:20]}
        own = await person.done("GET", "/ids", scope=READ, params=wanted)
        assert own["items"] == [site.ours.ids[kind]]
        assert (await stranger.done("GET", "/ids", scope=READ, params=wanted))["items"] == []


async def limited_named(site: Site, name: str, job_id: str) -> House:
    dependencies = site.app.state.dependencies
    user, _ = await dependencies.tenants.create_user(site.ours.tenant_id, name)
    body = {"name": name, "scopes": ["read"], "user_id": str(user.id)}
    person = House(site.client, site.ours.tenant_id, name, user.id)
    person.keys[READ] = (await site.ours.done("POST", "/keys", body))["key"]
    roles = {"jobs": [{"job_id": job_id, "role": "viewer"}]}
    await site.ours.done("PUT", f"/people/{user.id}/role", roles)
    return person


async def test_a_viewer_of_a_job_may_look_and_not_touch_it(site: Site) -> None:
    seen, operated = await site.ours.job("seen"), await site.ours.job("operated")
    endpoint = await site.ours.endpoint(seen, "looked at")
    roles = {seen["id"]: Role.VIEWER, operated["id"]: Role.OPERATOR}
    person = await limited(site, site.ours, **roles)
    path = f"/endpoints/{endpoint['id']}"
    await person.done("GET", path)
    for method, action, body in (
        ("POST", f"{path}/pause", {"reason": "no"}),
        ("POST", f"{path}/test", None),
        ("POST", f"{path}/archive", None),
        ("PATCH", f"/jobs/{seen['id']}", {"description": "no"}),
        ("POST", f"/jobs/{seen['id']}/endpoints", {"name": "n", "every": "5m", "url": "http://x"}),
    ):
        content = {} if body is None else {"json": body}
        answer = await person.ask(method, action, OPERATE, **content)
        assert answer.status_code == 403, f"{action}: {answer.status_code} {answer.text}"
        assert "viewer" in answer.json()["detail"]
    await site.ours.done("POST", f"{path}/archive")
    answer = await person.ask("DELETE", path, OPERATE)
    assert answer.status_code == 403, answer.text


async def test_a_viewer_of_everything_may_operate_a_single_job(site: Site) -> None:
    other, own = await site.ours.job("other"), await site.ours.job("own")
    person = await limited(site, site.ours, **{own["id"]: Role.OPERATOR})
    body = {"role": "viewer", "jobs": [{"job_id": own["id"], "role": "operator"}]}
    await site.ours.done("PUT", f"/people/{person.user_id}/role", body)
    assert len((await person.done("GET", "/jobs"))["items"]) == 2
    await person.done("PATCH", f"/jobs/{own['id']}", {"description": "mine"})
    answer = await person.ask("PATCH", f"/jobs/{other['id']}", OPERATE, json={"description": "no"})
    assert answer.status_code == 403
    assert (await person.ask("POST", "/jobs", OPERATE, json={"name": "new"})).status_code == 403


async def test_a_key_for_single_jobs_sees_only_those(site: Site) -> None:
    own, other = await site.ours.job("own"), await site.ours.job("other")
    body = {"name": "for ci", "scopes": ["operate"], "job_ids": [own["id"]]}
    key = await site.ours.done("POST", "/keys", body)
    assert key["job_ids"] == [own["id"]]
    headers = bearer(key["key"])
    listed = await site.client.get("/api/v1/jobs", headers=headers)
    assert [job["id"] for job in listed.json()["items"]] == [own["id"]]
    assert (
        await site.client.get(f"/api/v1/jobs/{other['id']}", headers=headers)
    ).status_code == 404
    admins = {**body, "scopes": ["admin"]}
    assert (await site.ours.ask("POST", "/keys", json=admins)).status_code == 422
    unknown = {**body, "job_ids": [str(UUID(int=5))]}
    assert (await site.ours.ask("POST", "/keys", json=unknown)).status_code == 422


async def test_a_deleted_job_leaves_nobody_a_role_for_it(site: Site) -> None:
    job = await site.ours.job("short")
    person = await limited(site, site.ours, **{job["id"]: Role.OPERATOR})
    await site.ours.done("POST", f"/jobs/{job['id']}/archive")
    await site.ours.done("DELETE", f"/jobs/{job['id']}")
    people = (await site.ours.done("GET", "/people"))["items"]
    eve = next(row for row in people if row["id"] == str(person.user_id))
    assert eve["jobs"] == []
    site.app.state.dependencies.authentication.forget()
    assert (await person.ask("GET", "/jobs", READ)).status_code == 403


PAGES = (
    *("/", "/jobs", "/endpoints", "/runs", "/planner", "/graphs", "/graphs/grants"),
    *("/graphs/accounts", "/activity", "/settings", f"/search?q={MARK[:4]}", "/manifest"),
)


async def test_every_page_shows_ones_own_job_alone(site: Site) -> None:
    await furnish(site, site.ours)
    await site.ours.done("POST", "/planner/start")  # why it is stopped is shown to everybody
    mine = await site.ours.job("mine")
    await site.ours.endpoint(mine, "my own")
    person = await limited(site, site.ours, **{mine["id"]: Role.OPERATOR})
    _, token = await site.app.state.dependencies.sign_ins.with_key(person.keys[OPERATE])
    for path in PAGES:
        page = await site.client.get(path, headers={"cookie": f"cadenza_sign_in={token}"})
        assert page.status_code in (200, 308, 404), f"{path}: {page.status_code}"
        if path == "/settings":
            continue  # names of people are shown to everybody
        assert MARK not in page.text, path
    for kind in ("jobs", "endpoints", "runs"):
        page = await site.client.get(
            f"/{kind}/{site.ours.ids[kind]}", headers={"cookie": f"cadenza_sign_in={token}"}
        )
        assert page.status_code == 404, kind


def test_every_verb_of_a_transaction_is_guarded_passed_or_refused_on_purpose() -> None:
    """A verb that somebody adds later is refused to who has single jobs, until it is here."""
    verbs = {name for name in dir(Transaction) if not name.startswith("_")}
    guarded = {name for name in vars(LimitedTransaction) if not name.startswith("_")}
    assert guarded <= verbs
    assert verbs >= PASSED
    assert not guarded & PASSED
    touching = {name for name in verbs if name.startswith(("insert_", "save_", "delete_", "lock_"))}
    assert not (touching & PASSED) - {
        *("lock_tenant", "lock_jobs", "lock_allowance", "save_allowance", "insert_reservation"),
        *("save_incidents", "save_announcements"),  # of an incident that was locked
    }


def test_in_every_route_who_asks_is_known_before_what_they_may_see_is_chosen() -> None:
    app = storeless_app()
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    limited_routes = 0
    for route in routes:
        calls = [needed.call for needed in route.dependant.dependencies]
        callers = [place for place, call in enumerate(calls) if call in CALLERS]
        if callers and dependencies_of_caller in calls:
            assert callers[0] < calls.index(dependencies_of_caller), route.path
            limited_routes += 1
    assert limited_routes > 80
