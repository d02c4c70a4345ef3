"""Signing in to the dashboard: with a key, with a link, and out again."""

from datetime import timedelta

from cadenza.domain.access import hash_of
from cadenza.domain.sign_in import IDLE, LINK_LASTS
from cadenza.web.dashboard.visitor import SIGN_IN_COOKIE
from tests.web.html_pages import browser, signed_in
from tests.web.support import ADMIN, OPERATE, READ, Site, bearer


async def test_a_key_signs_in_and_the_cookie_is_out_of_reach_of_scripts(site: Site) -> None:
    visitor = browser(site)
    form = {"key": site.ours.keys[READ]}
    answer = await visitor.client.post("/sign-in", data=form, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie  # there is no TLS here
    assert (await visitor.open("/")).status == 200


async def test_behind_tls_the_cookie_is_for_tls_alone(site: Site) -> None:
    visitor = browser(site)
    headers = {"X-Forwarded-Proto": "https"}
    form = {"key": site.ours.keys[READ]}
    options = {"headers": headers, "follow_redirects": False}
    answer = await visitor.client.post("/sign-in", data=form, **options)
    assert "; secure" in answer.headers["set-cookie"].lower()


async def test_the_store_has_no_token_that_opens_anything(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    token = visitor.client.cookies[SIGN_IN_COOKIE]
    rows = (await site.contents())["sign_ins"]
    assert len(rows) == 1
    assert token not in rows[0]


async def test_who_is_not_signed_in_gets_to_the_page_they_wanted_after_signing_in(
    site: Site,
) -> None:
    visitor = browser(site)
    page = await visitor.open("/runs?status=failure&range=24h")
    assert page.path == "/sign-in"
    after = await visitor.send(page, "/sign-in", key=site.ours.keys[READ])
    assert str(after.answer.url).endswith("/runs?status=failure&range=24h")


async def test_another_site_is_never_gone_on_to(site: Site) -> None:
    for elsewhere in ("//evil.example/", "https://evil.example/", "/\\evil.example", "evil"):
        visitor = browser(site)
        form = {"key": site.ours.keys[READ], "next": elsewhere}
        answer = await visitor.client.post("/sign-in", data=form, follow_redirects=False)
        assert answer.headers["location"] == "/", elsewhere


async def test_a_key_that_opens_nothing_is_told_at_its_field(site: Site) -> None:
    visitor = browser(site)
    for key in ("", "nonsense", "cdz_" + "0" * 32 + "_" + "s" * 43):
        page = await visitor.sign_in(key)
        assert page.status == 401
        assert "This key is unknown, revoked or expired." in page.text
    assert SIGN_IN_COOKIE not in visitor.client.cookies


async def test_failing_sign_ins_are_limited_and_a_good_key_waits_too(site: Site) -> None:
    visitor = browser(site)
    statuses = [(await visitor.sign_in("nonsense")).status for _ in range(11)]
    assert statuses == [401] * 10 + [429]
    assert (await visitor.sign_in(site.ours.keys[READ])).status == 429


async def test_a_revoked_key_takes_its_sign_ins_along(site: Site) -> None:
    visitor = await signed_in(site, site.ours, OPERATE)
    key_id = (await site.ours.done("GET", "/me", scope=OPERATE))["key_id"]
    await site.ours.done("DELETE", f"/keys/{key_id}")
    assert (await visitor.open("/")).path == "/sign-in"


async def test_a_sign_in_that_was_not_used_for_a_week_has_ended(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    async with site.backend.store.transaction() as tx:
        now = await tx.time()
    match = await site.backend.stores.sign_ins.find_sign_in(
        hash_of(visitor.client.cookies[SIGN_IN_COOKIE])
    )
    assert match is not None
    sign_in, _ = match
    assert sign_in.in_force(now)
    assert not sign_in.in_force(now + IDLE + timedelta(seconds=1))


async def test_signing_out_ends_this_browser_alone(site: Site) -> None:
    here, there = await signed_in(site, site.ours), await signed_in(site, site.ours)
    page = await here.send(await here.open("/settings"), "/sign-out")
    assert page.path == "/sign-in"
    assert (await here.open("/")).path == "/sign-in"
    assert (await there.open("/")).path == "/"


async def test_signing_out_everywhere_ends_every_browser_of_the_user_and_no_other(
    site: Site,
) -> None:
    here, there = await signed_in(site, site.ours), await signed_in(site, site.ours, READ)
    other = await signed_in(site, site.theirs)
    await here.send(await here.open("/settings"), "/sign-out-everywhere")
    assert (await here.open("/")).path == "/sign-in"
    assert (await there.open("/")).path == "/sign-in"
    assert (await other.open("/")).path == "/"


# --- Links ------------------------------------------------------------------------------------


async def test_a_link_signs_its_owner_in_once_with_the_scopes_of_their_key(site: Site) -> None:
    link = await site.ours.done("POST", "/sign-in-links", scope=READ)
    first, second = browser(site), browser(site)
    page = await first.open(link["path"])
    assert (page.status, page.path) == (200, "/")
    assert "Scope: read" in page.text
    late = await second.open(link["path"])
    assert late.path == "/sign-in"
    assert "has been used, or is older than a minute" in late.text
    assert late.status == 200  # the page was asked for, and there it is


async def test_a_link_that_another_site_opens_signs_nobody_in_and_is_not_used_up(
    site: Site,
) -> None:
    link = await site.ours.done("POST", "/sign-in-links", scope=READ)
    victim = await signed_in(site, site.theirs)
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = await victim.client.get(link["path"], headers=headers)
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers
    assert "copy it into the address bar" in answer.text
    assert (await browser(site).open(link["path"])).path == "/"


async def test_a_link_ends_after_a_minute(site: Site) -> None:
    link = await site.ours.done("POST", "/sign-in-links")
    now = await site.now()
    token = link["path"].rsplit("/", 1)[1]
    async with site.backend.store.transaction() as tx:
        taken = await tx.take_sign_in_link(hash_of(token))
        assert taken is not None
        stored, _ = taken
        assert now < stored.expires_at <= now + LINK_LASTS + timedelta(seconds=5)
        ended = type(stored)(
            stored.hash, stored.tenant_id, stored.user_id, stored.key_id, now - LINK_LASTS
        )
        await tx.insert_sign_in_link(ended)
    assert (await browser(site).open(link["path"])).path == "/sign-in"


async def test_a_link_of_a_revoked_key_opens_nothing(site: Site) -> None:
    link = await site.ours.done("POST", "/sign-in-links", scope=OPERATE)
    key_id = (await site.ours.done("GET", "/me", scope=OPERATE))["key_id"]
    await site.ours.done("DELETE", f"/keys/{key_id}")
    assert (await browser(site).open(link["path"])).path == "/sign-in"


# --- What a cookie does not do ----------------------------------------------------------------


async def test_a_cookie_opens_no_route_of_the_api(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    answer = await visitor.client.get("/api/v1/jobs")
    assert answer.status_code == 401
    assert (await visitor.client.post("/api/v1/jobs", json={"name": "x"})).status_code == 401


async def test_a_key_in_a_header_opens_no_page(site: Site) -> None:
    answer = await browser(site).open("/jobs", headers=bearer(site.ours.keys[ADMIN]))
    assert answer.path == "/sign-in"


async def test_a_form_without_its_token_or_from_another_site_changes_nothing(site: Site) -> None:
    job = await site.ours.job()
    visitor = await signed_in(site, site.ours)
    path = f"/jobs/{job['id']}/pause"
    token = (await visitor.open(f"/jobs/{job['id']}")).form(path).fields["form_token"]
    other = await signed_in(site, site.ours)
    foreign = (await other.open(f"/jobs/{job['id']}")).form(path).fields["form_token"]
    before = await site.ours.done("GET", f"/jobs/{job['id']}")
    for fields, headers in (
        ({}, {}),
        ({"form_token": "0" * 64}, {}),
        ({"form_token": foreign}, {}),
        ({"form_token": token}, {"Sec-Fetch-Site": "cross-site"}),
        ({"form_token": token}, {"Sec-Fetch-Site": "same-site"}),
    ):
        page = await visitor.post(path, fields, headers=headers)
        assert page.status == 403, (fields, headers)
    assert await site.ours.done("GET", f"/jobs/{job['id']}") == before
    assert (await visitor.post(path, {"form_token": token})).status == 200


async def test_sign_ins_are_in_the_audit_log(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    await visitor.send(await visitor.open("/settings"), "/sign-out")
    actions = [row["action"] for row in (await site.ours.done("GET", "/audit"))["items"]]
    assert actions[:2] == ["sign-in.end", "sign-in.create"]
