"""Accounts that pay for models: credits, ledger, usage, and their keys for providers."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from cadenza.application.ports.billing import UsageGroup, UsageSearch
from cadenza.web.api.access import Admin, ApiDependencies, Reader
from cadenza.web.api.parsing.billing_bodies import AccountBody, CreditsBody, VirtualKeyBody
from cadenza.web.api.parsing.cursors import (
    read_cursor,
    read_time_cursor,
    write_cursor,
    write_time_cursor,
)
from cadenza.web.api.parsing.headers import Idempotency
from cadenza.web.api.parsing.query import Cursor, From, Limit, Named, To, check_order
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.billing import (
    AccountResponse,
    AccountUsageResponse,
    LedgerCheckResponse,
    LedgerEntryResponse,
    VirtualKeyResponse,
    VirtualKeysResponse,
    ledger_check_response,
    usage_response,
    virtual_keys_response,
)
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Accounts", "/accounts")
LAST_ENTRY = 2**63 - 1
GroupBy = Annotated[UsageGroup, Query(description="Days are those of UTC.")]


@routes.post("", status_code=201)
async def create_account(
    body: AccountBody,
    caller: Admin,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> AccountResponse:
    """It begins with no credits."""
    record = idempotency.record(body)
    account, replayed = await dependencies.accounts.create(caller, body.name, record)
    idempotency.mark(replayed)
    return AccountResponse.model_validate(account)


@routes.get("")
async def list_accounts(
    caller: Reader,
    dependencies: ApiDependencies,
    name: Named = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AccountResponse]:
    """By name, with their balances."""
    accounts = await dependencies.reads.billing.list_accounts(
        caller.tenant_id, name, read_cursor(cursor), limit + 1
    )
    return page_response(
        accounts,
        limit,
        AccountResponse.model_validate,
        lambda account: write_cursor(account.name, account.id),
    )


@routes.get("/{account_id}")
async def get_account(
    account_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> AccountResponse:
    account = await dependencies.reads.billing.get_account(caller.tenant_id, account_id)
    return AccountResponse.model_validate(account)


@routes.post("/{account_id}/credits", status_code=201)
async def add_credits(
    account_id: UUID,
    body: CreditsBody,
    response: Response,
    caller: Admin,
    dependencies: ApiDependencies,
) -> LedgerEntryResponse:
    """Add credits, or take some away; the same reference counts once."""
    entry, replayed = await dependencies.accounts.adjust(caller, account_id, body.parsed())
    if replayed:
        response.headers["Idempotent-Replayed"] = "true"
    return LedgerEntryResponse.model_validate(entry)


@routes.get("/{account_id}/ledger")
async def list_ledger(
    account_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[LedgerEntryResponse]:
    """Newest first, each with the balance after it."""
    after = read_time_cursor(cursor)
    before = None if after is None else min(after[1].int, LAST_ENTRY)
    entries = await dependencies.reads.billing.read_ledger(
        caller.tenant_id, account_id, before, limit + 1
    )
    return page_response(
        entries,
        limit,
        LedgerEntryResponse.model_validate,
        lambda entry: write_time_cursor((entry.at, UUID(int=entry.id))),
    )


@routes.get("/{account_id}/ledger/verify")
async def verify_ledger(
    account_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> LedgerCheckResponse:
    """Whether the balance is the sum of the ledger, entry by entry, and every charge is in it."""
    check = await dependencies.reads.billing.check_ledger(caller.tenant_id, account_id)
    return ledger_check_response(check)


@routes.get("/{account_id}/usage")
async def get_account_usage(
    account_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    group_by: GroupBy = UsageGroup.DAY,
    from_at: From = None,
    to: To = None,
) -> AccountUsageResponse:
    """Calls, tokens and credits: days in their order, other groups by what they cost."""
    check_order(from_at, to)
    search = UsageSearch(group_by, from_at, to)
    rows = await dependencies.reads.billing.usage_of_account(caller.tenant_id, account_id, search)
    return usage_response(group_by, rows)


# --- Keys for providers -----------------------------------------------------------------------


@routes.get("/{account_id}/keys")
async def list_virtual_keys(
    account_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> VirtualKeysResponse:
    """The oldest first, revoked ones among them."""
    billing = dependencies.reads.billing
    return virtual_keys_response(await billing.list_virtual_keys(caller.tenant_id, account_id))


@routes.post("/{account_id}/keys", status_code=201)
async def create_virtual_key(
    account_id: UUID,
    body: VirtualKeyBody,
    caller: Admin,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> VirtualKeyResponse:
    """How the account reaches a provider. The key is encrypted, and never shown again."""
    record = idempotency.record(body)
    key, replayed = await dependencies.virtual_keys.create(
        caller, account_id, body.parsed(), record
    )
    idempotency.mark(replayed)
    return VirtualKeyResponse.model_validate(key)


@routes.post("/{account_id}/keys/{virtual_key_id}/default")
async def set_default_key(
    account_id: UUID, virtual_key_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> VirtualKeyResponse:
    """Calls to its api are made with it from now on."""
    keys = dependencies.virtual_keys
    return VirtualKeyResponse.model_validate(
        await keys.set_default(caller, account_id, virtual_key_id)
    )


@routes.delete("/{account_id}/keys/{virtual_key_id}")
async def revoke_virtual_key(
    account_id: UUID, virtual_key_id: UUID, caller: Admin, dependencies: ApiDependencies
) -> VirtualKeyResponse:
    """Its secret is forgotten. No other becomes the default by itself."""
    keys = dependencies.virtual_keys
    return VirtualKeyResponse.model_validate(await keys.revoke(caller, account_id, virtual_key_id))
