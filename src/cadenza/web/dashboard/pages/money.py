"""What graphs run under and at whose cost: grants, accounts and their ledgers."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.domain.billing import LedgerEntry
from cadenza.domain.errors import InvalidInput
from cadenza.web.api.parsing.cursors import (
    read_cursor,
    read_time_cursor,
    write_cursor,
    write_time_cursor,
)
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import rows_of
from cadenza.web.dashboard.query import PAGE, word
from cadenza.web.dashboard.rendering import done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Reader, Sent

routes = APIRouter()
ENTRY = "/graphs"
USES = 20


@routes.get("/graphs/grants")
async def list_grants(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    reads, after = dependencies.reads, read_time_cursor(word_or_none(request, "cursor"))
    grants = await reads.grants.list_grants(visitor.caller.tenant_id, after, PAGE + 1)
    users = await reads.tenants.list_users(visitor.caller.tenant_id)
    return await page(
        request,
        "graphs/grants.html",
        entry=ENTRY,
        rows=rows_of(request, grants, lambda row: write_time_cursor((row.created_at, row.id))),
        users={user.id: user.name for user in users},
    )


@routes.get("/graphs/grants/{grant_id}")
async def show_grant(
    grant_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    reads, tenant_id = dependencies.reads, visitor.caller.tenant_id
    grant, uses = await reads.grants.get_grant(tenant_id, grant_id, USES)
    account = await reads.billing.get_account(tenant_id, grant.account_id)
    return await page(
        request, "graphs/grant.html", entry=ENTRY, grant=grant, uses=uses, account=account
    )


@routes.post("/graphs/grants/{grant_id}/revoke")
async def revoke_grant(
    grant_id: UUID, _form: Sent, visitor: Operator, dependencies: PageDependencies
) -> Response:
    await dependencies.grants.revoke(visitor.caller, grant_id)
    return done(f"{ENTRY}/grants/{grant_id}", "Grant revoked. No further run starts under it.")


@routes.get("/graphs/accounts")
async def list_accounts(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    after = read_cursor(word_or_none(request, "cursor"))
    reads, tenant_id = dependencies.reads.billing, visitor.caller.tenant_id
    accounts = await reads.list_accounts(tenant_id, None, after, PAGE + 1)
    return await page(
        request,
        "graphs/accounts.html",
        entry=ENTRY,
        rows=rows_of(request, accounts, lambda row: write_cursor(row.name, row.id)),
    )


@routes.get("/graphs/accounts/{account_id}")
async def show_account(
    account_id: UUID, request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    reads, tenant_id = dependencies.reads.billing, visitor.caller.tenant_id
    before = _entry_number(word(request, "cursor"))
    entries = await reads.read_ledger(tenant_id, account_id, before, PAGE + 1)

    def cursor_of(entry: LedgerEntry) -> str:
        return str(entry.id)

    return await page(
        request,
        "graphs/account.html",
        entry=ENTRY,
        account=await reads.get_account(tenant_id, account_id),
        keys=await reads.list_virtual_keys(tenant_id, account_id),
        rows=rows_of(request, entries, cursor_of),
    )


def _entry_number(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise InvalidInput("cursor", text, "take the link to the page after; or leave it out")
    return int(text)
