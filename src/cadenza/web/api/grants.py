"""Grants: a user lets scheduled graphs run on their behalf, at an account's cost."""

from functools import partial
from uuid import UUID

from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.parsing.billing_bodies import GrantBody
from cadenza.web.api.parsing.cursors import read_time_cursor, write_time_cursor
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.parsing.query import Cursor, Limit
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.grants import (
    GrantDetailResponse,
    GrantResponse,
    grant_detail_response,
    grant_response,
)
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Grants", "/grants")
LAST_USES = 20


@routes.post("", status_code=201)
async def create_grant(
    body: GrantBody,
    caller: Operator,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> GrantResponse:
    """In your own name."""
    record = idempotency.record(body)
    grant, replayed = await dependencies.grants.create(caller, body.parsed(), record)
    idempotency.mark(replayed)
    return grant_response(grant, dependencies.around.clock.now())


@routes.get("")
async def list_grants(
    caller: Reader, dependencies: ApiDependencies, limit: Limit = 50, cursor: Cursor = None
) -> Page[GrantResponse]:
    """Those of the tenant, newest first."""
    grants = await dependencies.reads.grants.list_grants(
        caller.tenant_id, read_time_cursor(cursor), limit + 1
    )
    respond = partial(grant_response, now=dependencies.around.clock.now())
    return page_response(
        grants, limit, respond, lambda grant: write_time_cursor((grant.created_at, grant.id))
    )


@routes.get("/{grant_id}")
async def get_grant(
    grant_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> GrantDetailResponse:
    """With its last uses."""
    grant, uses = await dependencies.reads.grants.get_grant(caller.tenant_id, grant_id, LAST_USES)
    return grant_detail_response(grant, uses, dependencies.around.clock.now())


@routes.post("/{grant_id}/revoke")
async def revoke_grant(
    grant_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> GrantResponse:
    """No run starts under it from now on; revoking it again changes nothing."""
    grant = await dependencies.grants.revoke(caller, grant_id)
    return grant_response(grant, dependencies.around.clock.now())
