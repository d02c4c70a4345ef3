"""Keys and what they open, on every route of the document."""

from datetime import timedelta
from typing import Any

from cadenza.domain.access import Scope, token_of
from tests.web.furniture import furnish, path_to
from tests.web.support import ADMIN, ADMIN_KEY, OPERATE, READ, Site, bearer, give_key
from tests.web.walking import Operation, open_paths, operations

ALL = operations()
OF_TENANTS = [operation for operation in ALL if not operation.of_admin]
# A draft is not kept; a link signs in who asks for it, with the same key.
FOR_READERS = ("/api/v1/preview", "/api/v1/sign-in-links")
WRITES = [
    operation for operation in OF_TENANTS if operation.changes and operation.path not in FOR_READERS
]


async def _ask(site: Site, operation: Operation, headers: dict[str, str], **more: Any) -> Any:
    path = f"/api/v1{path_to(site.ours, operation)}"
    content = {} if operation.body is None else {"json": operation.body}
    method = operation.method.upper()
    return await site.client.request(method, path, headers=headers, **{**content, **more})


async def _all_closed_to(site: Site, headers: dict[str, str], walked: list[Operation]) -> None:
    """401 with a problem and a challenge everywhere, and nothing happens."""
    before = await site.contents()
    for operation in walked:
        answer = await _ask(site, operation, headers)
        assert answer.status_code == 401, f"{operation}: {answer.status_code} {answer.text}"
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert await site.contents() == before


def test_only_probes_need_no_key() -> None:
    assert open_paths() <= {"/healthz", "/readyz"}


async def test_without_a_key_every_route_is_closed(site: Site) -> None:
    await furnish(site, site.ours)
    await _all_closed_to(site, {}, ALL)


async def test_without_a_key_not_even_a_broken_body_is_read(site: Site) -> None:
    for operation in WRITES:
        if operation.body is None:
            continue
        kind = {"Content-Type": "application/json"}
        path = operation.path.replace("{", "").replace("}", "")
        answer = await site.client.request(
            operation.method.upper(), path, headers=kind, content=b"{broken"
        )
        assert answer.status_code == 401, f"{operation}: {answer.text}"


async def test_what_is_no_key_opens_nothing(site: Site) -> None:
    await furnish(site, site.ours)
    real = site.ours.keys[ADMIN]
    me = next(operation for operation in OF_TENANTS if operation.path.endswith("/me"))
    for wrong in (
        "",
        "cdz_",
        real[:-1],
        f"{real}s",
        f"{real[:-1]}x",
        real.upper(),
        real.replace("cdz_", "abc_"),
        token_of(site.ours.tenant_id, "s" * 43),
        "cdz_" + "g" * 32 + "_" + "s" * 43,
        "\xff" * 80,
        "x" * 5000,
    ):
        headers = {"Authorization": b"Bearer " + wrong.encode("latin-1")}
        answer = await _ask(site, me, headers)  # type: ignore[arg-type]
        assert answer.status_code == 401, wrong
        assert len(wrong) < 10 or wrong not in answer.text
    for scheme in ("Basic", "Token", "", "Bearer Bearer"):
        answer = await _ask(site, me, {"Authorization": f"{scheme} {real}".strip()})
        assert answer.status_code == 401, scheme


async def test_a_revoked_key_opens_nothing_at_once(site: Site) -> None:
    await furnish(site, site.ours)
    token = await give_key(site.backend, site.ours, ADMIN)
    await site.change_key(token.split("_")[1], revoked_at=await site.now())
    await _all_closed_to(site, bearer(token), OF_TENANTS)


async def test_an_expired_key_opens_nothing(site: Site) -> None:
    await furnish(site, site.ours)
    now = await site.now()
    token = await give_key(site.backend, site.ours, ADMIN, expires_at=now - timedelta(seconds=1))
    await _all_closed_to(site, bearer(token), OF_TENANTS)


async def test_the_key_of_the_installations_admin_opens_nothing_of_a_tenant(site: Site) -> None:
    await furnish(site, site.ours)
    await _all_closed_to(site, bearer(ADMIN_KEY), OF_TENANTS)


async def test_a_key_that_reads_changes_nothing(site: Site) -> None:
    await furnish(site, site.ours)
    headers = bearer(site.ours.keys[READ])
    await site.ours.done("GET", "/me", scope=READ)
    before = await site.contents()
    for operation in WRITES:
        answer = await _ask(site, operation, headers)
        # A result is reported with the token of its run, and with no key at all.
        closed = 401 if operation.path.endswith("/result") else 403
        assert answer.status_code == closed, f"{operation}: {answer.status_code} {answer.text}"
        assert ("scope" if closed == 403 else "token") in answer.json()["detail"]
    assert await site.contents() == before


async def test_a_key_that_operates_makes_no_keys_and_changes_no_tenant(site: Site) -> None:
    await furnish(site, site.ours)
    for method, path in (("POST", "/keys"), ("GET", "/keys"), ("PATCH", "/tenant")):
        answer = await site.ours.ask(method, path, OPERATE, json={} if method != "GET" else None)
        assert answer.status_code == 403, f"{method} {path}: {answer.text}"


async def test_each_scope_may_do_what_the_ones_before_it_may(site: Site) -> None:
    for scope in Scope:
        assert (await site.ours.ask("GET", "/jobs", scope)).status_code == 200
    created = [
        (await site.ours.ask("POST", "/jobs", scope, json={"name": scope})).status_code
        for scope in Scope
    ]
    assert created == [403, 201, 201]


async def test_without_an_admins_key_the_routes_of_the_admin_are_closed_to_all(site: Site) -> None:
    async with site.emptied(admin_key=None) as closed:
        for token in ("", ADMIN_KEY, "None"):
            answer = await closed.client.get("/api/v1/tenants", headers=bearer(token))
            assert answer.status_code == 401
