"""Grants: given in one's own name, taken back once, and never a place for a credential."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from cadenza.application.grants import notify_of_expiring_grants
from cadenza.domain.billing import Account, check_credits
from cadenza.domain.errors import InsufficientCredits
from cadenza.domain.grant import GrantRefusal, GrantUse
from tests.backends import PostgresBackend
from tests.web.support import OPERATE, READ, House, Site

SCOPES = ["graph:execute:langgraph:poet"]
# What holds or shows a grant, and what runs under it.
SEALED = {
    *("endpoints.secret_headers", "signing_keys.secret", "virtual_keys.sealed"),
    "notification_channels.sealed",
}
NO_CREDENTIALS = {  # by their names they might be
    *("endpoints.hint_interval_author", "endpoints.hint_run_author", "steering_history.author"),
    *("idempotency_keys.key", "sign_ins.key_id", "sign_in_links.key_id"),
    "awaited_results.token_hash",
}
COUNTED = re.compile(r"tokens$|token_limit$")
CREDENTIAL = re.compile(r"key|token|secret|password|passwd|sealed|credential|bearer|auth")


async def _body(house: House, **fields: Any) -> dict[str, Any]:
    account = await house.done("POST", "/accounts", {"name": f"account {uuid4()}"})
    return {"account_id": account["id"], "scopes": SCOPES, **fields}


async def test_whoever_operates_grants_in_their_own_name(site: Site) -> None:
    body = await _body(site.ours)
    grant = await site.ours.done("POST", "/grants", body, scope=OPERATE)
    assert grant["user_id"] == str(site.ours.user_id)
    assert (grant["state"], grant["scopes"], grant["expires_at"]) == ("active", SCOPES, None)
    assert (await site.ours.ask("POST", "/grants", READ, json=body)).status_code == 403
    listed = await site.ours.done("GET", "/grants", scope=READ)
    assert [each["id"] for each in listed["items"]] == [grant["id"]]


async def test_a_grant_ends_at_an_instant_or_after_a_while(site: Site) -> None:
    body, now = await _body(site.ours), await site.now()
    at = (now + timedelta(days=3)).isoformat()
    exact = await site.ours.done("POST", "/grants", {**body, "expires_at": at})
    assert datetime.fromisoformat(exact["expires_at"]) == now + timedelta(days=3)
    later = await site.ours.done("POST", "/grants", {**body, "expires_in": "90d"})
    length = datetime.fromisoformat(later["expires_at"]) - now
    assert timedelta(days=90) <= length < timedelta(days=91)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scopes": []}, "scopes"),
        ({"scopes": ["graph:execute:*"] * 101}, "scopes"),
        ({"scopes": ["*"]}, "scopes[0]"),
        ({"scopes": [*SCOPES, "graph:read:langgraph:poet"]}, "scopes[1]"),
        ({"scopes": ["graph:execute:no colon"]}, "scopes[0]"),
        ({"scopes": ["graph:execute:langgraph:a\nb"]}, "scopes[0]"),
        ({"scopes": [7]}, "scopes[0]"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "2099-01-01T00:00:00Z", "expires_in": "1d"}, "expires_at"),
        ({"expires_in": "-1d"}, "expires_in"),
        ({"account_id": "nobody's"}, "account_id"),
    ],
)
async def test_what_is_no_grant_is_refused_by_its_field(
    site: Site, fields: dict[str, Any], field: str
) -> None:
    answer = await site.ours.ask("POST", "/grants", json={**await _body(site.ours), **fields})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == field
    assert (await site.ours.done("GET", "/grants"))["items"] == []


async def test_nobody_grants_at_the_cost_of_another_tenant(site: Site) -> None:
    theirs = await _body(site.theirs)
    for account_id in (theirs["account_id"], str(uuid4())):
        body = {"account_id": account_id, "scopes": SCOPES}
        assert (await site.ours.ask("POST", "/grants", json=body)).status_code == 404


async def test_a_grant_is_revoked_once_and_stays_to_be_seen(site: Site) -> None:
    grant = await site.ours.done("POST", "/grants", await _body(site.ours))
    path = f"/grants/{grant['id']}"
    revoked = await site.ours.done("POST", f"{path}/revoke", scope=OPERATE)
    assert revoked["state"] == "revoked"
    assert await site.ours.done("POST", f"{path}/revoke") == revoked
    assert (await site.ours.done("GET", path))["revoked_at"] == revoked["revoked_at"]
    entries = (await site.ours.done("GET", "/audit", params={"subject": grant["id"]}))["items"]
    assert [entry["action"] for entry in entries] == ["grant.revoke", "grant.create"]


async def test_the_same_create_makes_one_grant(site: Site) -> None:
    body, headers = await _body(site.ours), {"Idempotency-Key": "once"}
    first, second = [
        await site.ours.ask("POST", "/grants", json=body, headers=headers) for _ in range(2)
    ]
    assert first.json() == second.json()
    assert second.headers["Idempotent-Replayed"] == "true"


async def test_a_grant_shows_its_last_uses(site: Site) -> None:
    grant = await site.ours.done("POST", "/grants", await _body(site.ours))
    grant_id = UUID(grant["id"])
    for number in range(25):
        refusal = GrantRefusal.SCOPE if number == 24 else None
        async with site.backend.store.transaction() as tx:
            use = GrantUse(grant_id, UUID(int=number), "langgraph:poet", refusal)
            await tx.log_grant_uses([use])
    uses = (await site.ours.done("GET", f"/grants/{grant['id']}"))["uses"]
    assert len(uses) == 20
    assert [use["refusal"] for use in uses[:2]] == ["grant_scope", None]


async def test_what_a_deleted_user_granted_is_revoked(site: Site) -> None:
    grant = await site.ours.done("POST", "/grants", await _body(site.ours))
    grace = await site.admin(
        "POST", f"/tenants/{site.ours.tenant_id}/users", json={"name": "grace"}
    )
    wanted = {"name": "grace", "scopes": ["read"], "user_id": grace.json()["id"]}
    key = (await site.ours.done("POST", "/keys", wanted))["key"]
    path = f"/tenants/{site.ours.tenant_id}/users/{site.ours.user_id}"
    assert (await site.admin("DELETE", path)).is_success
    answer = await site.client.get(
        f"/api/v1/grants/{grant['id']}", headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.json()["state"] == "revoked"


async def test_an_end_that_comes_near_is_an_event(site: Site) -> None:
    body = {**await _body(site.ours), "expires_in": "1d"}
    grant = await site.ours.done("POST", "/grants", body)
    assert await notify_of_expiring_grants(site.backend.store) == 0
    if isinstance(site.backend, PostgresBackend):
        await site.backend.execute("UPDATE execution_grants SET expiry_notice_at = cadenza_now()")
        assert await notify_of_expiring_grants(site.backend.store) == 1
        assert (await site.backend.event_kinds())[-1] == "grant.expiring"
        (row,) = await site.backend.rows("SELECT data FROM events WHERE kind = 'grant.expiring'")
        assert grant["id"] in row["data"]
        assert await notify_of_expiring_grants(site.backend.store) == 0


# --- No credential, and no credits ------------------------------------------------------------


async def test_only_the_places_that_seal_it_can_hold_a_credential(postgres_site: Site) -> None:
    """All tables are walked: a column that is added later has to be one of these, or be renamed."""
    backend = postgres_site.backend
    assert isinstance(backend, PostgresBackend)
    rows = await backend.rows(
        "SELECT c.table_name || '.' || c.column_name AS name FROM information_schema.columns AS c"
        " JOIN information_schema.tables AS t USING (table_schema, table_name)"
        " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    )
    names = {row["name"] for row in rows}
    assert {f"{table}.id" for table in ("schedules", "schedule_runs", "execution_grants")} <= names
    suspects = {name for name in names if CREDENTIAL.search(name.partition(".")[2])}
    counted = {name for name in suspects if COUNTED.search(name)}
    assert suspects - counted == SEALED | NO_CREDENTIALS


async def test_a_key_of_an_account_that_is_not_sealed_is_refused_by_the_database(
    postgres_site: Site,
) -> None:
    backend = postgres_site.backend
    assert isinstance(backend, PostgresBackend)
    account = await postgres_site.ours.done("POST", "/accounts", {"name": "research"})
    key = {"name": "main", "api": "openai", "base_url": "https://api.example/v1"}
    path = f"/accounts/{account['id']}/keys"
    await postgres_site.ours.done("POST", path, {**key, "secret_key": "sk-0123456789abcdef"})
    (row,) = await backend.rows("SELECT sealed FROM virtual_keys")
    assert re.fullmatch(r"v1:[0-9a-f]{16}:[A-Za-z0-9+/=]+", row["sealed"])
    for statement in (
        "UPDATE virtual_keys SET sealed = 'sk-0123456789abcdef'",
        "UPDATE virtual_keys SET sealed = NULL",
        "UPDATE virtual_keys SET revoked_at = cadenza_now()",
    ):
        with pytest.raises(asyncpg.CheckViolationError):
            await backend.execute(statement)


async def test_an_account_without_credits_is_402(site: Site) -> None:
    account = Account(uuid4(), site.ours.tenant_id, "research", -3, await site.now())
    with pytest.raises(InsufficientCredits, match="-3 credits"):
        check_credits(account)

    async def broke() -> None:
        check_credits(account)

    site.app.router.add_api_route("/api/v1/broke", broke)
    answer = await site.client.get("/api/v1/broke")
    assert answer.status_code == 402
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/insufficient-credits"
