"""Tenants and users: made by the installation's admin, seen by themselves, gone without a trace."""

from tests.web.furniture import furnish
from tests.web.support import READ, Site, bearer


async def test_the_admin_makes_a_tenant_a_user_and_their_first_key(site: Site) -> None:
    tenant = (await site.admin("POST", "/tenants", json={"name": "new"})).json()
    users = f"/tenants/{tenant['id']}/users"
    user = (await site.admin("POST", users, json={"name": "ada"})).json()
    key = (await site.admin("POST", f"{users}/{user['id']}/keys", json={})).json()
    assert key["scopes"] == ["admin"]
    me = await site.client.get("/api/v1/me", headers=bearer(key["key"]))
    assert me.json()["tenant_id"] == tenant["id"]
    assert (me.json()["user_name"], me.json()["tenant_name"]) == ("ada", "new")
    listed = (await site.admin("GET", users)).json()
    assert [item["name"] for item in listed["items"]] == ["ada"]
    assert (await site.admin("GET", f"/tenants/{tenant['id']}")).json() == tenant


async def test_names_are_taken_once(site: Site) -> None:
    answer = await site.admin("POST", "/tenants", json={"name": "ours"})
    assert answer.status_code == 409
    users = f"/tenants/{site.ours.tenant_id}/users"
    answer = await site.admin("POST", users, json={"name": "ada of ours"})
    assert answer.status_code == 409
    assert answer.json()["errors"][0]["field"] == "name"


async def test_what_is_not_there_is_not_found(site: Site) -> None:
    nobody = "00000000-0000-0000-0000-00000000000f"
    ours, theirs = site.ours, site.theirs
    for method, path, body in (
        ("GET", f"/tenants/{nobody}", None),
        ("GET", f"/tenants/{nobody}/users", None),
        ("POST", f"/tenants/{nobody}/users", {"name": "ada"}),
        ("DELETE", f"/tenants/{nobody}?confirm=x", None),
        ("DELETE", f"/tenants/{ours.tenant_id}/users/{nobody}", None),
        ("DELETE", f"/tenants/{ours.tenant_id}/users/{theirs.user_id}", None),
        ("POST", f"/tenants/{ours.tenant_id}/users/{nobody}/keys", {}),
        ("POST", f"/tenants/{ours.tenant_id}/users/{theirs.user_id}/keys", {}),
    ):
        content = {} if body is None else {"json": body}
        answer = await site.admin(method, path, **content)
        assert answer.status_code == 404, f"{method} {path}: {answer.text}"


async def test_tenants_are_listed_page_by_page(site: Site) -> None:
    for number in range(5):
        await site.admin("POST", "/tenants", json={"name": f"tenant {number}"})
    names: list[str] = []
    query: dict[str, object] = {"limit": 3}
    while True:
        page = (await site.admin("GET", "/tenants", params=query)).json()
        names += [item["name"] for item in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert sorted(names) == sorted(["ours", "theirs", *(f"tenant {n}" for n in range(5))])


async def test_a_deleted_tenant_leaves_nothing_in_any_table(site: Site) -> None:
    theirs_before = await _rows_of(site, str(site.theirs.tenant_id))
    for house in (site.ours, site.theirs):
        await furnish(site, house)
    idempotent = {"Idempotency-Key": "once"}
    await site.ours.ask("POST", "/jobs", json={"name": "once"}, headers=idempotent)
    before = await _rows_of(site, str(site.ours.tenant_id), *site.ours.ids.values())
    empty = [table for table, rows in before.items() if not rows]
    assert empty == [], "furnish() puts nothing there, so that nothing is proven"
    theirs = await _rows_of(site, str(site.theirs.tenant_id), *site.theirs.ids.values())
    assert theirs != theirs_before
    path = f"/tenants/{site.ours.tenant_id}"
    gone = await site.admin("DELETE", path, params={"confirm": "ours"})
    assert gone.status_code == 200, gone.text
    after = await _rows_of(site, str(site.ours.tenant_id), *site.ours.ids.values())
    assert after == {table: [] for table in after}
    assert await _rows_of(site, str(site.theirs.tenant_id), *site.theirs.ids.values()) == theirs
    assert (await site.ours.ask("GET", "/me")).status_code == 401
    assert (await site.admin("GET", path)).status_code == 404


async def test_a_tenant_is_deleted_only_by_its_name(site: Site) -> None:
    path = f"/tenants/{site.ours.tenant_id}"
    for query in ({"confirm": "theirs"}, {"confirm": ""}, {"confirm": "OURS"}, {}):
        answer = await site.admin("DELETE", path, params=query)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "confirm"
    assert (await site.ours.ask("GET", "/me")).status_code == 200


async def test_a_deleted_user_takes_their_keys_along(site: Site) -> None:
    users = f"/tenants/{site.ours.tenant_id}/users"
    user = (await site.admin("POST", users, json={"name": "eve"})).json()
    key = (await site.admin("POST", f"{users}/{user['id']}/keys", json={})).json()["key"]
    await site.admin("DELETE", f"{users}/{user['id']}")
    answer = await site.client.get("/api/v1/me", headers=bearer(key))
    assert answer.status_code == 401


async def test_a_tenant_sees_and_changes_itself(site: Site) -> None:
    await site.ours.done("PATCH", "/tenant", {"retention_days": 7})
    assert (await site.ours.done("GET", "/tenant"))["retention_days"] == 7
    assert (await site.theirs.done("GET", "/tenant"))["retention_days"] is None
    await site.ours.done("PATCH", "/tenant", {"retention_days": None})
    assert (await site.ours.done("GET", "/tenant"))["retention_days"] is None
    users = await site.ours.done("GET", "/users", scope=READ)
    assert [user["name"] for user in users["items"]] == ["ada of ours"]


async def _rows_of(site: Site, *ids: str) -> dict[str, list[str]]:
    """Those that name one of the ids, by table."""
    return {
        table: [row for row in rows if any(wanted in row for wanted in ids)]
        for table, rows in (await site.contents()).items()
    }
