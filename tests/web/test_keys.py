"""API keys: shown once, hashed at rest, revoked at once, rotated with an overlap."""

import asyncio
import time
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from cadenza.application.accounts import Keys
from cadenza.application.authentication import KNOWN_SECONDS, Authentication
from cadenza.domain.access import Caller, hash_of
from tests.web.support import ADMIN, Site, bearer, give_key

WANTED = {"name": "ci", "scopes": ["read", "operate"]}


async def _opens(site: Site, token: str) -> bool:
    answer = await site.client.get("/api/v1/jobs", headers=bearer(token))
    return answer.status_code == 200


async def _opens_by_heart(site: Site, token: str) -> bool:
    """Its first use is noted; after the second one it is known without being looked up."""
    return await _opens(site, token) and await _opens(site, token)


async def test_a_key_is_shown_once_and_only_its_hash_is_kept(site: Site) -> None:
    created = await site.ours.done("POST", "/keys", WANTED)
    token = created["key"]
    assert token.startswith("cdz_")
    assert await _opens(site, token)
    listed = await site.ours.done("GET", "/keys")
    mine = next(key for key in listed["items"] if key["id"] == created["id"])
    assert "key" not in mine
    assert mine["scopes"] == ["read", "operate"]
    secret = token.split("_", 2)[2]
    assert secret not in str(listed)
    assert secret not in str(await site.contents())
    assert (await site.stored_key(created["id"])).hash == hash_of(token)


async def test_two_keys_have_nothing_in_common(site: Site) -> None:
    first = await site.ours.done("POST", "/keys", WANTED)
    second = await site.ours.done("POST", "/keys", WANTED)
    assert first["key"][-43:] != second["key"][-43:]


async def test_who_am_i_tells_user_tenant_and_scopes(site: Site) -> None:
    created = await site.ours.done("POST", "/keys", WANTED)
    answer = await site.client.get("/api/v1/me", headers=bearer(created["key"]))
    me = answer.json()
    assert (me["tenant_name"], me["user_id"]) == ("ours", str(site.ours.user_id))
    assert (me["key_id"], me["scopes"]) == (created["id"], ["read", "operate"])


async def test_a_revoked_key_opens_nothing_from_then_on_and_stays_in_the_list(site: Site) -> None:
    created = await site.ours.done("POST", "/keys", WANTED)
    assert await _opens_by_heart(site, created["key"])
    revoked = await site.ours.done("DELETE", f"/keys/{created['id']}")
    assert revoked["revoked_at"] is not None
    assert not await _opens(site, created["key"])
    again = await site.ours.done("DELETE", f"/keys/{created['id']}")
    assert again["revoked_at"] == revoked["revoked_at"]
    listed = await site.ours.done("GET", "/keys")
    assert created["id"] in [key["id"] for key in listed["items"]]


async def test_another_process_refuses_a_revoked_key_within_a_second(site: Site) -> None:
    created = await site.ours.done("POST", "/keys", WANTED)
    assert await _opens_by_heart(site, created["key"])
    await site.change_key(created["id"], revoked_at=await site.now())
    await asyncio.sleep(KNOWN_SECONDS)
    assert not await _opens(site, created["key"])


async def test_a_look_up_that_a_revocation_overtakes_is_not_remembered(site: Site) -> None:
    created = await site.ours.done("POST", "/keys", WANTED)
    key_id, store = UUID(created["id"]), site.backend.store
    caller = Caller(site.ours.tenant_id, site.ours.user_id, key_id, "ada", (ADMIN,))
    for _ in range(20):
        lookups = Authentication(site.backend.stores.keys, time.monotonic)
        keys = Keys(store, uuid4, lambda: "s" * 43, lookups.forget)
        overtaken, _ = await asyncio.gather(lookups.find_key(key_id), keys.revoke(caller, key_id))
        assert overtaken is not None
        known = await lookups.find_key(key_id)
        assert known is not None
        assert known[0].revoked_at is not None
        await site.change_key(created["id"], revoked_at=None)


async def test_the_keys_of_a_deleted_user_open_nothing_from_then_on(site: Site) -> None:
    users = f"/tenants/{site.ours.tenant_id}/users"
    bob = (await site.admin("POST", users, json={"name": "bob"})).json()
    created = (await site.admin("POST", f"{users}/{bob['id']}/keys", json=WANTED)).json()
    assert await _opens_by_heart(site, created["key"])
    assert (await site.admin("DELETE", f"{users}/{bob['id']}")).is_success
    assert not await _opens(site, created["key"])


async def test_a_rotated_key_ends_at_once_without_an_overlap(site: Site) -> None:
    old = await site.ours.done("POST", "/keys", WANTED)
    assert await _opens_by_heart(site, old["key"])
    new = await site.ours.done("POST", f"/keys/{old['id']}/rotate", {})
    assert not await _opens(site, old["key"])
    assert await _opens(site, new["key"])
    assert (new["name"], new["scopes"]) == (old["name"], old["scopes"])
    assert new["user_id"] == old["user_id"]


async def test_with_an_overlap_both_keys_work_until_it_ends(site: Site) -> None:
    old = await site.ours.done("POST", "/keys", WANTED)
    new = await site.ours.done("POST", f"/keys/{old['id']}/rotate", {"overlap": "1h"})
    assert await _opens(site, old["key"])
    assert await _opens(site, new["key"])
    listed = {key["id"]: key for key in (await site.ours.done("GET", "/keys"))["items"]}
    ends_at = datetime.fromisoformat(listed[old["id"]]["expires_at"])
    now = await site.now()
    assert timedelta(minutes=59) < ends_at - now <= timedelta(hours=1)
    await site.change_key(old["id"], expires_at=await site.now())
    assert not await _opens(site, old["key"])


async def test_an_overlap_does_not_lengthen_a_life_that_ends_before(site: Site) -> None:
    soon = (await site.now()) + timedelta(minutes=5)
    old = await site.ours.done("POST", "/keys", {**WANTED, "expires_at": soon.isoformat()})
    await site.ours.done("POST", f"/keys/{old['id']}/rotate", {"overlap": "1h"})
    assert (await site.stored_key(old["id"])).expires_at == soon


async def test_a_key_that_is_no_longer_in_force_cannot_be_rotated(site: Site) -> None:
    now = await site.now()
    expired = await give_key(site.backend, site.ours, ADMIN, expires_at=now - timedelta(hours=1))
    revoked = (await site.ours.done("POST", "/keys", WANTED))["id"]
    await site.ours.done("DELETE", f"/keys/{revoked}")
    for key_id in (expired.split("_")[1], revoked):
        answer = await site.ours.ask("POST", f"/keys/{key_id}/rotate", json={})
        assert answer.status_code == 404, answer.text


async def test_an_overlap_of_more_than_a_month_is_refused(site: Site) -> None:
    key = await site.ours.done("POST", "/keys", WANTED)
    answer = await site.ours.ask("POST", f"/keys/{key['id']}/rotate", json={"overlap": "31d"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"field": "overlap", "value": "'31d'", "fix": "at most 30 days"}
    ]
    assert await _opens(site, key["key"])


async def test_a_key_ends_at_its_expiry(site: Site) -> None:
    soon = (await site.now()) + timedelta(days=1)
    key = await site.ours.done("POST", "/keys", {**WANTED, "expires_at": soon.isoformat()})
    assert await _opens(site, key["key"])
    await site.change_key(key["id"], expires_at=await site.now())
    assert not await _opens(site, key["key"])


async def test_a_key_cannot_be_born_expired(site: Site) -> None:
    wanted = {**WANTED, "expires_at": "2020-01-01T00:00:00Z"}
    answer = await site.ours.ask("POST", "/keys", json=wanted)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "expires_at"


async def test_a_create_that_is_sent_twice_does_not_show_the_key_again(site: Site) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await site.ours.ask("POST", "/keys", json=WANTED, headers=headers)
    second = await site.ours.ask("POST", "/keys", json=WANTED, headers=headers)
    assert (first.status_code, second.status_code) == (201, 409)
    assert first.json()["id"] in second.json()["detail"]
    assert first.json()["key"] not in second.text


async def test_a_key_for_a_colleague_acts_in_their_name(site: Site) -> None:
    made = await site.admin("POST", f"/tenants/{site.ours.tenant_id}/users", json={"name": "grace"})
    wanted = {**WANTED, "user_id": made.json()["id"]}
    key = await site.ours.done("POST", "/keys", wanted)
    me = await site.client.get("/api/v1/me", headers=bearer(key["key"]))
    assert me.json()["user_name"] == "grace"


async def test_use_is_noted_to_the_minute(site: Site) -> None:
    key = await site.ours.done("POST", "/keys", WANTED)
    assert (await site.stored_key(key["id"])).last_used_at is None
    await _opens(site, key["key"])
    first = (await site.stored_key(key["id"])).last_used_at
    await _opens(site, key["key"])
    assert first is not None
    assert (await site.stored_key(key["id"])).last_used_at == first


async def test_a_wrong_secret_notes_no_use(site: Site) -> None:
    key = await site.ours.done("POST", "/keys", WANTED)
    assert not await _opens(site, key["key"][:-1] + "-")
    assert (await site.stored_key(key["id"])).last_used_at is None


async def test_what_is_done_with_keys_is_in_the_audit_log(site: Site) -> None:
    key = await site.ours.done("POST", "/keys", WANTED)
    await site.ours.done("POST", f"/keys/{key['id']}/rotate", {})
    await site.ours.done("DELETE", f"/keys/{key['id']}")
    entries = (await site.ours.done("GET", "/audit", params={"actor": "user "}))["items"]
    newest_first = [entry["action"] for entry in entries]
    assert newest_first == ["key.revoke", "key.rotate", "key.create"]
