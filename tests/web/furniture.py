"""Something of everything that a tenant can have, so that there is something to lose."""

from typing import Any
from uuid import UUID

from tests.web.support import House, Site
from tests.web.walking import Operation

# Where the last word of a path is not the name of the table.
_TABLES = {"keys": "api_keys", "sessions": "analysis_sessions"}
SECRET = "hunter2-of-the-first-tenant"
MARK = "gazebo"  # in every name and text that we have
_RECORDED = """
WITH e AS (SELECT id, tenant_id, job_id FROM endpoints WHERE id = $1),
     run AS (
        INSERT INTO runs (id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch,
                          claimed_at, started_at, finished_at, status_code, body, plan)
        SELECT gen_random_uuid(), id, tenant_id, now(), 'manual', 'success', 2, 1, now(), now(),
               now(), 200, '"the gazebo answered"', '{}' FROM e RETURNING id, slot_at),
     failure AS (
        INSERT INTO failed_runs
        SELECT e.tenant_id, e.id, run.slot_at, run.id, 'manual', 'failure', true FROM e, run),
     count AS (INSERT INTO run_counts SELECT tenant_id, now(), 'success', 1 FROM e),
     attempt AS (
        INSERT INTO run_attempts SELECT run.id, 1, e.tenant_id, e.id, run.slot_at, now()
        FROM e, run),
     late AS (
        INSERT INTO late_results (run_id, endpoint_id, tenant_id, epoch, status, received_at)
        SELECT run.id, e.id, e.tenant_id, 1, 'failure', now() FROM e, run),
     session AS (
        INSERT INTO analysis_sessions (id, tenant_id, job_id, endpoint_id, brain, started_at,
                                       duration_ms, ended_as, tool_calls, reasoning,
                                       suggests_until)
        SELECT gen_random_uuid(), tenant_id, job_id, id, 'rules', now(), 5, 'submitted',
               '[{"tool": "clear_hints", "arguments": {"reason": "gazebo"}, "result": {"ok": true},
                  "took_effect": false, "suggested": true, "open_until": "2099-01-01T00:00:00Z"}]',
               'the gazebo is calm', '2099-01-01' FROM e),
     event AS (
        INSERT INTO events (tenant_id, kind, endpoint_id, data)
        SELECT tenant_id, 'run.finished', id, '{"name": "gazebo"}' FROM e),
     quota AS (
        INSERT INTO quotas (tenant_id, month, used) SELECT tenant_id, '2026-03', 7 FROM e),
     reserved AS (
        INSERT INTO quota_reservations (id, tenant_id, month, tokens)
        SELECT gen_random_uuid(), tenant_id, '2026-03', 5 FROM e),
     look AS (
        INSERT INTO looks (endpoint_id, brain, reasoning) SELECT id, 'rules', 'a gazebo' FROM e),
     signing_key AS (
        INSERT INTO signing_keys (id, tenant_id, secret, created_at)
        SELECT gen_random_uuid(), tenant_id, $2, now() FROM e)
SELECT 1
"""


async def furnish(site: Site, house: House) -> dict[str, Any]:
    """A job with an endpoint, runs, a session, events, keys and the like; gives the endpoint."""
    job = await house.job(f"{MARK} job", description=f"the {MARK} in the garden")
    endpoint = await house.endpoint(
        job,
        f"{MARK} endpoint",
        url=f"https://{MARK}.example/",
        secret_headers={"X-Api-Key": SECRET},
    )
    await house.done(
        "POST",
        f"/endpoints/{endpoint['id']}/hints/interval",
        {"interval": "2m", "reason": f"the {MARK} is busy"},
    )
    await house.done("POST", "/keys", {"name": f"{MARK} key", "scopes": ["read"]})
    sealed = sealed_for(house.tenant_id)
    await site.execute(_RECORDED, UUID(endpoint["id"]), sealed)
    return endpoint


def sealed_for(tenant_id: UUID) -> str:
    from tests.postgres import BOX

    return BOX.seal("whsec_" + "A" * 32, tenant_id=tenant_id, row_id=tenant_id, column="secret")


async def id_of(site: Site, house: House, kind: str) -> str:
    """The id of one of the house's own, by what stands in the path before it."""
    if kind == "tenants":
        return str(house.tenant_id)
    table = _TABLES.get(kind, kind.replace("-", "_"))
    found = await site.value(
        f"SELECT id FROM {table} WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1", house.tenant_id
    )
    assert found is not None, f"furnish() puts nothing into {table}, and a route asks for it"
    return str(found)


async def path_to(site: Site, house: House, operation: Operation) -> str:
    """The operation's path with ids of that house in it."""
    path = operation.short_path
    for name, kind in operation.collections().items():
        path = path.replace(f"{{{name}}}", await id_of(site, house, kind))
    assert "{" not in path, f"the walker cannot fill {path}"
    return path
