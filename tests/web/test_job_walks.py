"""Who has a role for a single job, walking every route of the API and every page of the dashboard:
what is added later is walked too."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from fastapi.routing import APIRoute

from cadenza.domain.people import Role
from cadenza.domain.sign_in import form_token_of
from cadenza.web.dashboard.app import ENTRIES
from tests.web.furniture import MARK, SECRET, furnish, id_of, path_to
from tests.web.support import ADMIN, OPERATE, READ, House, Site, give_key
from tests.web.walking import operations

# Nobody is signed in there, or it is the same for everybody; `/live` is in test_people_streams.py.
OPEN = ("/static/", "/docs", "/problems/", "/sign-in", "/sign-out", "/join/", "/live")
# What a page asks for by another name than the API does.
KINDS = {"user_id": "people", "delivery_id": "deliveries"}
TABLES = (
    *("jobs", "endpoints", "rules", "runs", "users", "job_roles", "invitations", "schedules"),
    *("schedule_runs", "accounts", "execution_grants", "tenants", "incidents", "channels"),
)


async def person(site: Site, job_id: str, role: Role) -> House:
    """Somebody of our tenant with this role for one job, and a key of every scope."""
    user, _ = await site.app.state.dependencies.tenants.create_user(site.ours.tenant_id, "eve")
    eve = House(site.client, site.ours.tenant_id, "eve", user.id)
    for scope in (READ, OPERATE, ADMIN):
        eve.keys[scope] = await give_key(site.backend, eve, scope)
    roles = {"jobs": [{"job_id": job_id, "role": role}]}
    await site.ours.done("PUT", f"/people/{user.id}/role", roles)
    return eve


async def stored(site: Site) -> dict[str, Any]:
    contents = await site.contents()
    return {table: contents.get(table) for table in TABLES}


def pages() -> Iterator[tuple[str, str]]:
    for entry in ENTRIES:
        for route in entry.routes.routes:
            assert isinstance(route, APIRoute)
            if not route.path.startswith(OPEN):
                yield from ((method, route.path) for method in sorted(route.methods))


def filled(house: House, path: str) -> str:
    ids = {**house.ids, "rule_id": str(uuid4())}
    if path.startswith("/graphs/"):
        ids["run_id"] = ids["schedule_run_id"]
    elif path.startswith("/jobs/"):
        ids |= {"invitation_id": ids["job_invitation_id"], "key_id": ids["job_key_id"]}
    for part in path.split("/"):
        if part.startswith("{"):
            name = part.strip("{}")
            known = ids.get(name) or id_of(house, KINDS.get(name, f"{name[:-3]}s"))
            path = path.replace(part, known)
    return path


def test_there_are_pages_to_walk() -> None:
    assert len(list(pages())) > 90


def test_there_is_one_stream_which_has_tests_of_its_own() -> None:
    assert [str(operation) for operation in operations() if operation.streams] == [
        "GET /api/v1/events"
    ]


@pytest.mark.parametrize("role", Role)
async def test_no_page_and_no_form_shows_or_touches_anything_of_another_job(
    site: Site, role: Role
) -> None:
    await furnish(site, site.ours)
    await site.ours.done("POST", "/planner/start")  # why it is stopped is shown to everybody
    mine = await site.ours.job("mine")
    await site.ours.endpoint(mine, "my own")
    eve = await person(site, mine["id"], role)
    _, token = await site.app.state.dependencies.sign_ins.with_key(eve.keys[ADMIN])
    headers = {"cookie": f"cadenza_sign_in={token}"}
    form = {
        "form_token": form_token_of(token),
        "name": "x",
        "confirm": MARK,
        "scope": "read",
        "role": "viewer",
        "email": "x@x.org",
        "person": site.ours.ids["people"],
    }
    before = await stored(site)
    for method, template in pages():
        path = filled(site.ours, template)
        content = {"data": form} if method == "POST" else {}
        page = await site.client.request(method, path, headers=headers, **content)
        assert page.status_code < 500, f"{method} {path}: {page.text}"
        if template not in ("/settings", "/search"):  # which name everybody of the tenant
            for hidden in (MARK, SECRET):
                asked = page.text.replace(path, "")  # said back, where there is no such page
                assert hidden not in asked, f"{method} {template} shows {hidden}"
        if site.ours.ids["jobs"] in path or site.ours.ids["endpoints"] in path:
            assert page.status_code in (403, 404), f"{method} {template}: {page.status_code}"
        assert await stored(site) == before, f"{method} {template} has changed something"


async def test_a_viewer_of_a_job_sees_all_of_it_and_changes_nothing_by_any_route(
    site: Site,
) -> None:
    await furnish(site, site.ours)
    eve = await person(site, site.ours.ids["jobs"], Role.VIEWER)
    of_job = {site.ours.ids[kind] for kind in ("jobs", "endpoints", "runs", "sessions")}
    before, seen = await stored(site), 0
    for operation in operations():
        if operation.of_admin or operation.streams:
            continue
        path, method = path_to(site.ours, operation), operation.method.upper()
        if operation.short_path == "/runs/{run_id}/result":  # it asks for a token and no key
            continue
        content = {} if operation.body is None else {"json": operation.body}
        answer = await eve.ask(method, path, **content)
        assert answer.status_code < 500, f"{operation}: {answer.text}"
        assert SECRET not in answer.text, f"{operation}: {answer.text}"
        seen += operation.method == "get" and MARK in answer.text
        if operation.changes and any(one in path for one in of_job):
            assert answer.status_code in (403, 422), f"{operation}: {answer.text}"
        assert await stored(site) == before, f"{operation} has changed something"
    assert seen > 10
