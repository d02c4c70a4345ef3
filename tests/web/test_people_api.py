"""People of a tenant over the API: invited, given roles, removed; keys that end; the audit log as
a file."""

import csv
import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

from cadenza.application.accounts import notify_of_expiring_keys
from cadenza.domain.access import hash_of
from tests.web.support import ADMIN, OPERATE, READ, House, Site, bearer, give_key

XSS = "<img src=x onerror=alert(1)>"


async def add_person(site: Site, name: str = "bob", role: str = "operator") -> House:
    """Somebody of our tenant, with a key of every scope that they may have."""
    user, _ = await site.app.state.dependencies.tenants.create_user(site.ours.tenant_id, name)
    person = House(site.client, site.ours.tenant_id, name, user.id)
    for scope in (READ, OPERATE, ADMIN):
        person.keys[scope] = await give_key(site.backend, person, scope)
    await site.ours.done("PUT", f"/people/{user.id}/role", {"role": role})
    return person


async def audit(site: Site, action: str) -> list[dict[str, Any]]:
    return (await site.ours.done("GET", "/audit", params={"action": action}))["items"]


# --- Roles ------------------------------------------------------------------------------------


async def test_a_role_caps_every_key_of_a_person_at_once(site: Site) -> None:
    bob = await add_person(site, role="operator")
    assert (await bob.ask("GET", "/keys", ADMIN)).status_code == 403
    await bob.done("POST", "/jobs", {"name": "by bob"})
    await site.ours.done("PUT", f"/people/{bob.user_id}/role", {"role": "viewer"})
    for scope in (OPERATE, ADMIN):
        answer = await bob.ask("POST", "/jobs", scope, json={"name": "no"})
        assert answer.status_code == 403
        assert "operator" in answer.json()["detail"]
    await bob.done("GET", "/jobs", scope=ADMIN)
    await site.ours.done("PUT", f"/people/{bob.user_id}/role", {"role": "owner"})
    await bob.done("GET", "/keys")
    entry = (await audit(site, "person.role"))[0]
    assert entry["data"]["role"] == "owner"
    assert entry["data"]["before"]["role"] == "viewer"


async def test_the_last_owner_stays_one(site: Site) -> None:
    path = f"/people/{site.ours.user_id}"
    viewer = await site.ours.ask("PUT", f"{path}/role", json={"role": "viewer"})
    removed = await site.ours.ask("DELETE", path)
    assert viewer.status_code == removed.status_code == 409
    assert "owner" in removed.json()["detail"]
    other = await add_person(site, role="owner")
    await other.done("DELETE", path)
    assert (await site.ours.ask("GET", "/me")).status_code == 401


async def test_who_is_removed_opens_nothing_from_then_on(site: Site) -> None:
    bob = await add_person(site)
    _, cookie = await site.app.state.dependencies.sign_ins.with_key(bob.keys[READ])
    await site.ours.done("DELETE", f"/people/{bob.user_id}")
    assert (await bob.ask("GET", "/me")).status_code == 401
    assert await site.app.state.dependencies.sign_ins.caller_of(cookie) is None
    names = [row["name"] for row in (await site.ours.done("GET", "/people"))["items"]]
    assert "bob" not in names
    assert (await audit(site, "person.remove"))[0]["data"] == {"name": "bob"}


async def test_roles_that_cannot_be_are_refused(site: Site) -> None:
    bob, job = await add_person(site), await site.ours.job("shop")
    role = {"job_id": job["id"], "role": "operator"}
    for body in (
        {},
        {"role": "king"},
        {"role": None, "jobs": []},
        {"jobs": [{**role, "role": "king"}]},
        {"jobs": [{**role, "job_id": str(UUID(int=1))}]},
        {"jobs": [role, role]},
        {"jobs": [role] * 201},
    ):
        answer = await site.ours.ask("PUT", f"/people/{bob.user_id}/role", json=body)
        assert answer.status_code == 422, f"{body}: {answer.text}"
    assert (await bob.ask("PUT", f"/people/{bob.user_id}/role", json={"role": "owner"})).is_error


# --- Invitations ------------------------------------------------------------------------------


async def invite(site: Site, email: str = "eve@example.org", **access: Any) -> dict[str, Any]:
    body = {"email": email, **(access or {"role": "viewer"})}
    return await site.ours.done("POST", "/invitations", body)


def token_in(invitation: dict[str, Any]) -> str:
    return invitation["path"].removeprefix("/join/")


async def test_an_invitation_makes_a_person_once(site: Site) -> None:
    job = await site.ours.job("shop")
    roles = [{"job_id": job["id"], "role": "operator"}]
    invitation = await invite(site, " Eve@Example.org", role="viewer", jobs=roles)
    assert invitation["email"] == "eve@example.org"
    invitations = site.app.state.dependencies.invitations
    user_id = await invitations.accept(token_in(invitation))
    assert await invitations.accept(token_in(invitation)) is None
    people = (await site.ours.done("GET", "/people"))["items"]
    eve = next(person for person in people if person["id"] == str(user_id))
    assert (eve["email"], eve["role"], eve["jobs"]) == ("eve@example.org", "viewer", roles)
    listed = (await site.ours.done("GET", "/invitations"))["items"][0]
    assert listed["accepted_at"] is not None
    assert "path" not in listed
    actor = (await audit(site, "invitation.accept"))[0]["actor"]
    assert actor == "user eve@example.org (invitation)"
    again = await site.ours.ask(
        "POST", "/invitations", json={"email": "eve@example.org", "role": "owner"}
    )
    assert again.status_code == 409


async def test_a_revoked_or_old_invitation_opens_nothing(site: Site) -> None:
    invitations = site.app.state.dependencies.invitations
    revoked, old = await invite(site, "a@example.org"), await invite(site, "b@example.org")
    answer = await site.ours.done("DELETE", f"/invitations/{revoked['id']}")
    assert answer["revoked_at"] is not None
    assert await invitations.accept(token_in(revoked)) is None
    async with site.backend.store.transaction() as tx:
        stored = await tx.lock_invitation(hash_of(token_in(old)))
        assert stored is not None
        await tx.delete_old_invitations(site.ours.tenant_id, stored[1] + timedelta(days=30))
        ended = replace(stored[0], expires_at=stored[1] - timedelta(seconds=1))
        await tx.insert_invitation(ended)
    assert await invitations.accept(token_in(old)) is None


async def test_invitations_that_cannot_be_are_refused(site: Site) -> None:
    for email in ("", "ada", "ada@", "@x", "a b@x.org", "a@x\n.org", XSS, "a" * 300 + "@x.org"):
        answer = await site.ours.ask("POST", "/invitations", json={"email": email, "role": "owner"})
        assert answer.status_code == 422, f"{email!r}: {answer.text}"
    for lasts in ("31d", "1s", "soon"):
        body = {"email": "a@x.org", "role": "viewer", "lasts": lasts}
        assert (await site.ours.ask("POST", "/invitations", json=body)).status_code == 422
    operator = {"email": "a@x.org", "role": "owner"}
    assert (await site.ours.ask("POST", "/invitations", OPERATE, json=operator)).status_code == 403


# --- Keys that end ----------------------------------------------------------------------------


async def test_a_key_that_expired_says_so_to_its_owner_alone(site: Site) -> None:
    now = await site.now()
    token = await give_key(site.backend, site.ours, READ, expires_at=now - timedelta(days=1))
    answer = await site.client.get("/api/v1/me", headers=bearer(token))
    assert answer.status_code == 401
    assert "expired at" in answer.json()["detail"]
    guessed = token[:-1] + ("t" if token[-1] == "s" else "s")
    answer = await site.client.get("/api/v1/me", headers=bearer(guessed))
    assert answer.status_code == 401
    assert "expired at" not in answer.json()["detail"]


async def test_a_key_may_not_be_for_more_than_its_user(site: Site) -> None:
    bob = await add_person(site, role="viewer")
    body = {"name": "too much", "scopes": ["operate"], "user_id": str(bob.user_id)}
    answer = await site.ours.ask("POST", "/keys", json=body)
    assert answer.status_code == 422
    assert "at most read" in answer.json()["detail"]


async def test_a_rotated_key_lasts_as_long_and_is_for_the_same_jobs(site: Site) -> None:
    job, now = await site.ours.job("shop"), await site.now()
    ends_at = (now + timedelta(days=90)).isoformat()
    body = {"name": "ci", "scopes": ["read"], "expires_at": ends_at, "job_ids": [job["id"]]}
    key = await site.ours.done("POST", "/keys", body)
    new = await site.ours.done("POST", f"/keys/{key['id']}/rotate", {"overlap": "1d"})
    assert new["job_ids"] == [job["id"]]
    stored = await site.stored_key(new["id"])
    assert stored.expires_at is not None
    assert abs(stored.expires_at - stored.created_at - timedelta(days=90)) < timedelta(minutes=1)
    old = await site.stored_key(key["id"])
    assert old.expires_at is not None
    assert old.expires_at < now + timedelta(days=2)


async def test_the_end_of_a_key_is_told_of_once_before_it_comes(site: Site) -> None:
    now = await site.now()
    await give_key(site.backend, site.ours, READ, expires_at=now + timedelta(days=300))
    soon = await give_key(site.backend, site.ours, READ, expires_at=now + timedelta(days=300))
    key_id = str(UUID(hex=soon[4:36]))
    created_at = now - timedelta(days=299)
    await _recreate(site, key_id, created_at=created_at, expires_at=now + timedelta(days=1))
    assert await notify_of_expiring_keys(site.backend.store) == 1
    assert await notify_of_expiring_keys(site.backend.store) == 0


async def _recreate(site: Site, key_id: str, **fields: Any) -> None:
    key = replace(await site.stored_key(key_id), **fields)
    async with site.backend.store.transaction() as tx:
        await tx.save_key(replace(key, revoked_at=key.created_at))
        await tx.insert_key(replace(key, id=UUID(int=key.id.int ^ 1), name="soon over"))


# --- The audit log as a file ------------------------------------------------------------------


async def test_the_audit_log_is_exported_whole_and_the_export_is_in_it(site: Site) -> None:
    for number in range(3):
        await site.ours.job(f"job {number}")
    answer = await site.ours.ask("GET", "/audit/export")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    entries = [json.loads(line) for line in answer.text.splitlines()]
    listed = (await site.ours.done("GET", "/audit", params={"limit": 200}))["items"]
    assert entries == listed
    assert entries[0]["action"] == "audit.export"
    assert entries[0]["data"]["format"] == "ndjson"
    theirs = await site.theirs.ask("GET", "/audit/export")
    assert "job 1" not in theirs.text


async def test_a_long_log_comes_page_by_page(site: Site, monkeypatch: Any) -> None:
    monkeypatch.setattr("cadenza.application.audit_export.PAGE", 2)
    for number in range(5):
        await site.ours.job(f"job {number}")
    answer = await site.ours.ask("GET", "/audit/export", params={"action": "job.create"})
    names = [json.loads(line)["data"]["name"] for line in answer.text.splitlines()]
    assert names == [f"job {number}" for number in (4, 3, 2, 1, 0)]


async def test_no_cell_of_the_csv_is_a_formula(site: Site) -> None:
    formula = "=HYPERLINK(1)"
    await site.app.state.dependencies.tenants.create_user(site.ours.tenant_id, formula)
    person = await add_person(site, "@SUM(1)", "operator")
    await person.done("POST", "/jobs", {"name": "+1"})
    answer = await site.ours.ask("GET", "/audit/export", params={"format": "csv"})
    rows = list(csv.reader(StringIO(answer.text)))
    assert rows[0] == ["id", "at", "actor", "action", "subject", "data"]
    assert len(rows) > 5
    assert not [cell for row in rows for cell in row if cell.lstrip()[:1] in ("=", "+", "-", "@")]


async def test_an_export_is_for_owners_and_within_its_filters(site: Site) -> None:
    assert (await site.ours.ask("GET", "/audit/export", OPERATE)).status_code == 403
    wrong = {"format": "xls"}
    assert (await site.ours.ask("GET", "/audit/export", params=wrong)).status_code == 422
    turned = {"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}
    assert (await site.ours.ask("GET", "/audit/export", params=turned)).status_code == 422
    past = {"to": "2020-01-01T00:00:00Z", "format": "csv"}
    answer = await site.ours.ask("GET", "/audit/export", params=past)
    assert answer.text == "id,at,actor,action,subject,data\r\n"
