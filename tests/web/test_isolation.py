"""What is another tenant's does not exist: for reads, writes, lists and filters alike."""

from typing import Any

import pytest

from cadenza.domain.access import Scope
from tests.web.furniture import MARK, SECRET, furnish, id_of, path_to
from tests.web.support import Site
from tests.web.walking import Operation, fitting, operations, resolved

OF_TENANTS = [
    operation for operation in operations() if not operation.of_admin and not operation.streams
]
WITH_IDS = [operation for operation in OF_TENANTS if operation.collections()]
WITHOUT_IDS = [operation for operation in OF_TENANTS if not operation.collections()]


def _body(operation: Operation) -> dict[str, Any]:
    return {} if operation.body is None else {"json": operation.body}


async def test_what_belongs_to_another_tenant_is_not_found_and_stays_as_it_is(site: Site) -> None:
    await furnish(site, site.ours)
    await site.theirs.done("GET", "/me")  # notes the use of their key, for a minute
    before = await site.contents()
    for operation in WITH_IDS:
        path = path_to(site.ours, operation)
        answer = await site.theirs.ask(operation.method.upper(), path, **_body(operation))
        assert answer.status_code == 404, f"{operation}: {answer.status_code} {answer.text}"
        assert MARK not in answer.text, str(operation)
        assert await site.contents() == before, f"{operation} has changed something"


async def test_the_same_requests_work_for_the_owner(site: Site) -> None:
    """Else the walk above would prove nothing."""
    await furnish(site, site.ours)
    for operation in WITH_IDS:
        path = path_to(site.ours, operation)
        answer = await site.ours.ask(operation.method.upper(), path, **_body(operation))
        works = answer.is_success or answer.status_code == 409
        assert works, f"{operation}: {answer.status_code} {answer.text}"


async def test_lists_and_creates_of_one_tenant_show_nothing_of_another(site: Site) -> None:
    await furnish(site, site.ours)
    ours = await _rows_of(site, site.ours.tenant_id)
    for operation in WITHOUT_IDS:
        answer = await site.theirs.ask(
            operation.method.upper(), operation.short_path, **_body(operation)
        )
        assert answer.status_code < 500, f"{operation}: {answer.text}"
        for hidden in (MARK, SECRET, str(site.ours.tenant_id), str(site.ours.user_id)):
            assert hidden not in answer.text, f"{operation} shows {hidden}"
        assert await _rows_of(site, site.ours.tenant_id) == ours, str(operation)


async def test_a_filter_by_an_id_of_another_tenant_finds_nothing(site: Site) -> None:
    await furnish(site, site.ours)
    for operation in OF_TENANTS:
        for parameter in operation.parameters("query"):
            if resolved(parameter["schema"]).get("format") != "uuid":
                continue
            kind = f"{parameter['name'].removesuffix('_id')}s"
            wanted = {parameter["name"]: id_of(site.ours, kind)}
            path = path_to(site.theirs, operation)
            answer = await site.theirs.ask(operation.method.upper(), path, params=wanted)
            nothing = answer.status_code == 404 or answer.json().get("items") == []
            assert nothing, f"{operation}?{wanted}: {answer.status_code} {answer.text}"


async def test_an_id_of_another_tenant_in_a_body_is_not_taken(site: Site) -> None:
    await furnish(site, site.ours)
    await furnish(site, site.theirs)
    ours = await _rows_of(site, site.ours.tenant_id)
    for operation in OF_TENANTS:
        for name, inner in resolved(operation.body_schema or {}).get("properties", {}).items():
            if resolved(inner).get("format") != "uuid":
                continue
            foreign = id_of(site.ours, f"{name.removesuffix('_id').removeprefix('planner_')}s")
            path = path_to(site.theirs, operation)
            body = {**fitting(operation.body_schema or {}), name: foreign}
            answer = await site.theirs.ask(operation.method.upper(), path, json=body)
            assert answer.status_code in (404, 422), f"{operation}: {answer.text}"
            assert await _rows_of(site, site.ours.tenant_id) == ours, str(operation)


async def test_search_and_name_find_only_what_is_ones_own(site: Site) -> None:
    await furnish(site, site.ours)
    for path in ("/jobs", "/endpoints"):
        for query in ({"search": MARK}, {"name": f"{MARK} job"}, {"name": f"{MARK} endpoint"}):
            page = await site.theirs.done("GET", path, params=query)
            assert page["items"] == [], f"{path} {query}"


async def test_a_cursor_of_another_tenant_leads_to_nothing_of_theirs(site: Site) -> None:
    for name in ("a", "b", "c"):
        await site.ours.job(f"{MARK} {name}")
    page = await site.ours.done("GET", "/jobs", params={"limit": 1})
    followed = await site.theirs.done("GET", "/jobs", params={"cursor": page["next"]})
    assert followed["items"] == []


@pytest.mark.parametrize("scope", list(Scope))
async def test_no_key_of_a_tenant_opens_what_is_the_admins(site: Site, scope: Scope) -> None:
    before = await site.contents()
    for operation in operations():
        if operation.of_admin:
            path = operation.short_path
            for name, kind in operation.collections().items():
                path = path.replace(f"{{{name}}}", id_of(site.theirs, kind))
            answer = await site.ours.ask(operation.method, path, scope, **_body(operation))
            assert answer.status_code == 401, f"{operation}: {answer.text}"
    assert await site.contents() == before


async def _rows_of(site: Site, tenant_id: Any) -> dict[str, list[str]]:
    contents = await site.contents()
    return {
        table: [row for row in rows if str(tenant_id) in row] for table, rows in contents.items()
    }
