"""The owner of a single job looks after its people and keys, and reaches nothing beyond it."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from cadenza.domain.errors import NotAllowed, Refused
from cadenza.domain.sign_in import form_token_of
from tests.web.furniture import MARK, furnish, path_to
from tests.web.support import ADMIN, OPERATE, READ, House, Site, bearer, give_key
from tests.web.walking import operations


async def person(site: Site, name: str, **access: Any) -> House:
    """Somebody of our tenant with this access, and a key of every scope from better days."""
    user, _ = await site.app.state.dependencies.tenants.create_user(site.ours.tenant_id, name)
    own = House(site.client, site.ours.tenant_id, name, user.id)
    for scope in (READ, OPERATE, ADMIN):
        own.keys[scope] = await give_key(site.backend, own, scope)
    await site.ours.done("PUT", f"/people/{user.id}/role", access)
    return own


async def owner_of(site: Site, job: dict[str, Any], name: str = "olga", **more: Any) -> House:
    return await person(site, name, jobs=[{"job_id": job["id"], "role": "owner"}], **more)


async def access_of(site: Site, user_id: UUID | str) -> tuple[str | None, dict[str, str]]:
    people = (await site.ours.done("GET", "/people"))["items"]
    (one,) = (row for row in people if row["id"] == str(user_id))
    return one["role"], {row["job_id"]: row["role"] for row in one["jobs"]}


async def refused(asked: House, method: str, path: str, *status: int, **more: Any) -> None:
    answer = await asked.ask(method, path, **more)
    assert answer.status_code in (status or (403,)), f"{method} {path}: {answer.text}"


# --- What they may ----------------------------------------------------------------------------


async def test_the_owner_of_a_job_operates_it_and_looks_after_its_people(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}"
    olga, bob = await owner_of(site, job), await person(site, "bob", role="viewer")
    assert (await olga.done("GET", "/me"))["owned_job_ids"] == [job["id"]]
    await olga.done("PATCH", path, {"description": "hers"})
    given = await olga.done("PUT", f"{path}/people/{bob.user_id}", {"role": "operator"})
    assert given == {"id": str(bob.user_id), "name": "bob", "role": "operator"}
    await bob.done("PATCH", path, {"description": "his, too"})
    listed = (await olga.done("GET", f"{path}/people"))["items"]
    assert [(row["name"], row["role"]) for row in listed] == [
        ("bob", "operator"),
        ("olga", "owner"),
    ]
    await olga.done("DELETE", f"{path}/people/{bob.user_id}")
    assert await access_of(site, bob.user_id) == ("viewer", {})
    await refused(bob, "PATCH", path, json={"description": "no more"})
    await refused(olga, "DELETE", f"{path}/people/{bob.user_id}", 404)
    entries = (await site.ours.done("GET", "/audit", params={"action": "person.role"}))["items"]
    assert entries[0]["actor"].startswith("user olga")
    known = {"name": "bob", "job_id": job["id"], "role": None, "before": "operator"}
    assert entries[0]["data"] == known


async def test_the_owner_of_a_job_invites_somebody_to_that_alone(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    path = f"/jobs/{job['id']}/invitations"
    olga = await owner_of(site, job)
    foreign = [{"job_id": other["id"], "role": "viewer"}]
    both = [*foreign, {"job_id": job["id"], "role": "viewer"}]
    hidden = [
        await site.ours.done("POST", "/invitations", {"email": f"{n}@x.org", "jobs": jobs})
        for n, jobs in enumerate((foreign, both))
    ]
    made = await olga.done("POST", path, {"email": "eve@x.org", "role": "owner"})
    assert [row["email"] for row in (await olga.done("GET", path))["items"]] == ["eve@x.org"]
    for invitation in hidden:
        await refused(olga, "DELETE", f"{path}/{invitation['id']}", 404)
    invitations = site.app.state.dependencies.invitations
    eve = await invitations.accept(made["path"].removeprefix("/join/"))
    assert await access_of(site, eve) == (None, {job["id"]: "owner"})
    again = await olga.done("POST", path, {"email": "bob@x.org", "role": "viewer"})
    assert (await olga.done("DELETE", f"{path}/{again['id']}"))["revoked_at"] is not None
    assert await invitations.accept(again["path"].removeprefix("/join/")) is None


async def test_the_owner_of_a_job_makes_sees_and_ends_keys_for_that_alone(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    path = f"/jobs/{job['id']}/keys"
    olga = await owner_of(site, job)
    ours = {"name": "ours", "scopes": ["operate"], "job_ids": [job["id"]]}
    of_job = await site.ours.done("POST", "/keys", ours)
    hidden = [
        (await site.ours.done("POST", "/keys", {**ours, "job_ids": jobs}))["id"]
        for jobs in ([other["id"]], [job["id"], other["id"]], None)
    ]
    ci = await olga.done("POST", path, {"name": "ci", "scopes": ["operate"]})
    assert (ci["user_id"], ci["job_ids"]) == (str(olga.user_id), [job["id"]])
    listed = (await olga.done("GET", path))["items"]
    assert {row["id"] for row in listed} == {ci["id"], of_job["id"]}
    for key_id in hidden:
        await refused(olga, "DELETE", f"{path}/{key_id}", 404)
    await olga.done("DELETE", f"{path}/{of_job['id']}")
    headers = bearer(of_job["key"])
    assert (await site.client.get("/api/v1/jobs", headers=headers)).status_code == 401
    theirs = await site.theirs.done("POST", "/keys", {"name": "t", "scopes": ["read"]})
    await refused(olga, "DELETE", f"{path}/{theirs['id']}", 404)


async def test_an_owner_of_the_tenant_may_all_of_it_for_every_job(site: Site) -> None:
    job = await site.ours.job("shop")
    path, bob = f"/jobs/{job['id']}", await person(site, "bob", role="viewer")
    await site.ours.done("PUT", f"{path}/people/{bob.user_id}", {"role": "owner"})
    await site.ours.done("POST", f"{path}/invitations", {"email": "a@x.org", "role": "viewer"})
    await site.ours.done("POST", f"{path}/keys", {"name": "ci", "scopes": ["read"]})
    await refused(site.theirs, "GET", f"{path}/people", 404)
    await refused(site.theirs, "PUT", f"{path}/people/{bob.user_id}", 404, json={"role": "viewer"})
    users = (await site.theirs.done("GET", "/users"))["items"]
    stranger = f"{path}/people/{users[0]['id']}"
    await refused(site.ours, "PUT", stranger, 404, json={"role": "viewer"})


# --- What they may not ------------------------------------------------------------------------


async def test_every_route_is_closed_beyond_ones_own_job(site: Site) -> None:
    """Also to a key of the scope admin: nothing else of the tenant is seen or touched."""
    await furnish(site, site.ours)
    mine = await site.ours.job("mine")
    olga = await owner_of(site, mine)
    await olga.done("GET", "/me")
    shown = ("/users", "/tenant", "/me", "/ids", "/planner")  # to everybody of the tenant
    tables = ("jobs", "users", "job_roles", "invitations", "schedules", "accounts", "tenants")
    before = await site.contents()
    for operation in operations():
        if operation.of_admin or operation.streams:
            continue
        path, method = path_to(site.ours, operation), operation.method.upper()
        content = {} if operation.body is None else {"json": operation.body}
        answer = await olga.ask(method, path, **content)
        assert answer.status_code < 500, f"{operation}: {answer.text}"
        if operation.short_path not in shown:
            assert MARK not in answer.text, f"{operation}: {answer.text}"
        if site.ours.ids["jobs"] in path:
            assert answer.status_code == 404, f"{operation}: {answer.text}"
        after = await site.contents()
        for table in tables:
            assert after.get(table) == before.get(table), f"{operation} has changed {table}"


async def test_a_viewer_of_everything_who_owns_one_job_owns_no_other(site: Site) -> None:
    mine, other = await site.ours.job("mine"), await site.ours.job("other")
    for role in ("viewer", "operator"):
        olga = await owner_of(site, mine, f"olga the {role}", role=role)
        await olga.done("GET", f"/jobs/{mine['id']}/people")
        for what in ("people", "invitations", "keys"):
            await refused(olga, "GET", f"/jobs/{other['id']}/{what}")
        for path in ("/people", "/invitations", "/keys", "/audit", "/signing-keys"):
            await refused(olga, "GET", path)
        to_self = f"/jobs/{other['id']}/people/{olga.user_id}"
        await refused(olga, "PUT", to_self, json={"role": "owner"})
        await refused(olga, "PUT", f"/people/{olga.user_id}/role", json={"role": "owner"})
        await refused(olga, "DELETE", f"/people/{site.ours.user_id}")
        assert await access_of(site, olga.user_id) == (role, {mine["id"]: "owner"})


async def test_only_owners_with_a_key_of_the_scope_admin_look_after_people(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}"
    olga = await owner_of(site, job)
    limited = await olga.done("POST", f"{path}/keys", {"name": "ci", "scopes": ["operate"]})
    olga.keys[READ] = limited["key"]
    for scope in (OPERATE, READ):
        for what in ("people", "invitations", "keys"):
            await refused(olga, "GET", f"{path}/{what}", scope=scope)
        wanted = {"name": "another", "scopes": ["operate"]}
        await refused(olga, "POST", f"{path}/keys", scope=scope, json=wanted)
    for role in ("viewer", "operator"):
        bob = await person(site, role, jobs=[{"job_id": job["id"], "role": role}])
        await refused(bob, "GET", f"{path}/people")
        to_self = f"{path}/people/{bob.user_id}"
        await refused(bob, "PUT", to_self, json={"role": "owner"})
        await refused(bob, "DELETE", f"{path}/people/{olga.user_id}")
        await refused(
            bob, "POST", f"{path}/invitations", json={"email": "a@x.org", "role": "owner"}
        )
    assert await access_of(site, olga.user_id) == (None, {job["id"]: "owner"})


async def test_a_key_for_a_job_is_no_admins_and_speaks_for_nobody_else(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    path = f"/jobs/{job['id']}/keys"
    olga = await owner_of(site, job)
    wanted = {"name": "more", "scopes": ["operate"]}
    for body in (
        {**wanted, "scopes": ["admin"]},
        {**wanted, "scopes": ["operate", "admin"]},
        {**wanted, "user_id": str(site.ours.user_id)},
        {**wanted, "job_ids": [other["id"]]},
        {**wanted, "job_ids": None},
    ):
        await refused(olga, "POST", path, 422, json=body)
    await refused(olga, "POST", "/keys", json={**wanted, "job_ids": [job["id"]]})
    assert (await olga.done("GET", path))["items"] == []


async def test_a_key_outlives_no_role(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}"
    olga = await owner_of(site, job)
    key = await olga.done("POST", f"{path}/keys", {"name": "ci", "scopes": ["operate"]})
    await site.ours.done("DELETE", f"{path}/people/{olga.user_id}")
    for headers in (bearer(key["key"]), bearer(olga.keys[ADMIN])):
        answer = await site.client.get(f"/api/v1{path}", headers=headers)
        assert answer.status_code == 403, answer.text


async def test_an_invitation_names_no_other_job_and_no_role_in_the_tenant(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    olga = await owner_of(site, job)
    wanted, path = {"email": "eve@x.org", "role": "viewer"}, f"/jobs/{job['id']}/invitations"
    foreign = [{"job_id": other["id"], "role": "viewer"}]
    for body in ({**wanted, "jobs": foreign}, {**wanted, "role": None}, {**wanted, "role": "king"}):
        await refused(olga, "POST", path, 422, json=body)
    await refused(olga, "POST", f"/jobs/{other['id']}/invitations", 404, json=wanted)
    for access in ({"role": "viewer"}, {"jobs": foreign}):
        await refused(olga, "POST", "/invitations", json={"email": "eve@x.org", **access})
    await refused(olga, "POST", path, 409, json={**wanted, "email": await _known_address(site)})


async def _known_address(site: Site) -> str:
    made = await site.ours.done("POST", "/invitations", {"email": "known@x.org", "role": "owner"})
    await site.app.state.dependencies.invitations.accept(made["path"].removeprefix("/join/"))
    return "known@x.org"


async def test_no_invitation_makes_somebody_less_who_has_come_meanwhile(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    olga = await owner_of(site, job)
    to_job = await olga.done(
        "POST", f"/jobs/{job['id']}/invitations", {"email": "eve@x.org", "role": "viewer"}
    )
    roles = [{"job_id": one["id"], "role": "operator"} for one in (job, other)]
    whole = {"email": "eve@x.org", "role": "owner", "jobs": roles}
    to_all = await site.ours.done("POST", "/invitations", whole)
    accept = site.app.state.dependencies.invitations.accept
    eve = await accept(to_all["path"].removeprefix("/join/"))
    assert await accept(to_job["path"].removeprefix("/join/")) == eve
    both = {job["id"]: "operator", other["id"]: "operator"}
    assert await access_of(site, eve) == ("owner", both)


async def test_an_owner_of_the_tenant_is_made_no_less_by_a_role_for_a_job(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}/people/{site.ours.user_id}"
    olga = await owner_of(site, job)
    await olga.done("PUT", path, {"role": "viewer"})
    await site.ours.done("PATCH", f"/jobs/{job['id']}", {"description": "still ours"})
    await olga.done("DELETE", path)
    assert await access_of(site, site.ours.user_id) == ("owner", {})
    await refused(olga, "DELETE", f"/people/{site.ours.user_id}")


async def test_roles_elsewhere_are_neither_shown_nor_touched(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    olga = await owner_of(site, job)
    bob = await person(
        site, "bob", role="viewer", jobs=[{"job_id": other["id"], "role": "operator"}]
    )
    path = f"/jobs/{job['id']}/people"
    assert "bob" not in str(await olga.done("GET", path))
    given = await olga.done("PUT", f"{path}/{bob.user_id}", {"role": "owner"})
    assert set(given) == {"id", "name", "role"}
    assert other["id"] not in str(await olga.done("GET", path))
    everything = {other["id"]: "operator", job["id"]: "owner"}
    assert await access_of(site, bob.user_id) == ("viewer", everything)
    await olga.done("DELETE", f"{path}/{bob.user_id}")
    assert await access_of(site, bob.user_id) == ("viewer", {other["id"]: "operator"})


async def test_of_two_owners_who_remove_each_other_one_is_left(site: Site) -> None:
    """Both were let in before either acted: who comes second is no owner any more."""
    job = await site.ours.job("shop")
    job_id, dependencies = UUID(job["id"]), site.app.state.dependencies
    two = [await owner_of(site, job, name) for name in ("olga", "otto")]
    callers = [await dependencies.authentication.caller_of(one.keys[ADMIN]) for one in two]
    results: list[Any] = await asyncio.gather(
        *(
            dependencies.for_caller(caller).job_people.take_role(caller, job_id, other.user_id)
            for caller, other in zip(callers, reversed(two), strict=True)
        ),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["JobPerson", "NotAllowed"]
    left = [await access_of(site, one.user_id) for one in two]
    assert sorted(left, key=str) == [(None, {job["id"]: "owner"}), (None, {})]


async def test_who_was_removed_gives_nothing_with_what_they_had_open(site: Site) -> None:
    job = await site.ours.job("shop")
    job_id, dependencies = UUID(job["id"]), site.app.state.dependencies
    olga, bob = await owner_of(site, job), await person(site, "bob", role="viewer")
    caller = await dependencies.authentication.caller_of(olga.keys[ADMIN])
    await site.ours.done("DELETE", f"/people/{olga.user_id}")
    late = dependencies.for_caller(caller).job_people
    for act in (
        late.give_role(caller, job_id, bob.user_id, "owner"),
        late.invite(caller, job_id, "eve@x.org", "owner"),
    ):
        with pytest.raises(NotAllowed):
            await act
    assert await access_of(site, bob.user_id) == ("viewer", {})
    await refused(site.ours, "PUT", f"/jobs/{job_id}/people/{olga.user_id}", 404, json=OWNER)


OWNER = {"role": "owner"}


async def test_the_last_owner_of_a_job_may_leave_and_comes_not_back_alone(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}/people"
    olga = await owner_of(site, job)
    await olga.done("PUT", f"{path}/{olga.user_id}", {"role": "viewer"})
    await refused(olga, "PUT", f"{path}/{olga.user_id}", json=OWNER)
    await site.ours.done("PUT", f"{path}/{olga.user_id}", OWNER)
    await olga.done("GET", path)


async def test_an_archived_job_keeps_its_owner_and_a_deleted_one_has_none(site: Site) -> None:
    job = await site.ours.job("shop")
    path = f"/jobs/{job['id']}"
    olga, bob = await owner_of(site, job), await person(site, "bob", role="viewer")
    made = await olga.done("POST", f"{path}/invitations", {"email": "eve@x.org", "role": "owner"})
    await olga.done("POST", f"{path}/archive")
    await olga.done("PUT", f"{path}/people/{bob.user_id}", {"role": "operator"})
    await olga.done("POST", f"{path}/restore")
    await olga.done("POST", f"{path}/archive")
    await olga.done("DELETE", path)
    assert await access_of(site, olga.user_id) == (None, {})
    for what in ("people", "invitations", "keys"):
        await refused(olga, "GET", f"{path}/{what}", 403, 404)
    accept = site.app.state.dependencies.invitations.accept
    with pytest.raises(Refused):
        await accept(made["path"].removeprefix("/join/"))


async def test_one_job_takes_not_all_the_room_for_invitations(site: Site) -> None:
    job = await site.ours.job("shop")
    path, olga = f"/jobs/{job['id']}/invitations", await owner_of(site, job)
    for number in range(100):
        await olga.done("POST", path, {"email": f"{number}@x.org", "role": "viewer"})
    await refused(olga, "POST", path, 409, json={"email": "one@more.org", "role": "viewer"})
    await site.ours.done("POST", "/invitations", {"email": "one@more.org", "role": "viewer"})


# --- The dashboard ----------------------------------------------------------------------------


async def test_the_page_of_a_job_has_its_people_for_its_owner_alone(site: Site) -> None:
    job, other = await site.ours.job("shop"), await site.ours.job("other")
    olga, bob = await owner_of(site, job), await person(site, "bob", role="operator")
    path = f"/jobs/{job['id']}/people"
    browser = await Browser.of(site, olga)
    assert "People and keys" in (await browser.get(f"/jobs/{job['id']}")).text
    sent = {"person": str(bob.user_id), "role": "owner"}
    assert (await browser.post(f"{path}/give", **sent)).status_code == 303
    link = await browser.post(f"{path}/invite", email="eve@x.org", role="viewer")
    assert "/join/" in link.text
    assert "cdz_" in (await browser.post(f"/jobs/{job['id']}/keys", name="ci", scope="read")).text
    wrong = await browser.post(f"{path}/invite", email="nobody", role="viewer")
    assert wrong.status_code == 422
    admins = await browser.post(f"/jobs/{job['id']}/keys", name="ci", scope="admin")
    assert admins.status_code == 422
    shown = (await browser.get(path)).text
    for word in ("bob", "eve@x.org", "ci"):
        assert f"<b>{word}</b>" in shown
    invitation = (await olga.done("GET", f"/jobs/{job['id']}/invitations"))["items"][0]
    key = (await olga.done("GET", f"/jobs/{job['id']}/keys"))["items"][0]
    for action in (
        f"{path}/{bob.user_id}/take",
        f"/jobs/{job['id']}/invitations/{invitation['id']}/revoke",
        f"/jobs/{job['id']}/keys/{key['id']}/revoke",
    ):
        assert (await browser.post(action)).status_code == 303, action
    assert (await browser.get(f"/jobs/{other['id']}/people")).status_code == 404
    assert (await browser.get("/settings/people")).status_code == 403
    his = await Browser.of(site, bob)
    assert (await his.get(path)).status_code == 403
    assert (await his.post(f"{path}/give", **sent)).status_code == 403
    assert "People and keys" not in (await his.get(f"/jobs/{job['id']}")).text


@dataclass(frozen=True)
class Browser:
    site: Site
    token: str

    @classmethod
    async def of(cls, site: Site, person: House) -> "Browser":
        """Signed in as by an invitation: without a key."""
        _, token = await site.app.state.dependencies.sign_ins.as_person(person.user_id)
        return cls(site, token)

    async def get(self, path: str) -> Any:
        return await self.site.client.get(path, headers=self._headers)

    async def post(self, path: str, **fields: str) -> Any:
        data = {"form_token": form_token_of(self.token), **fields}
        return await self.site.client.post(path, headers=self._headers, data=data)

    @property
    def _headers(self) -> dict[str, str]:
        return {"cookie": f"cadenza_sign_in={self.token}"}
