"""The first tenant, its admin and their key: made where there is nobody yet."""

import secrets
from pathlib import Path
from uuid import UUID

from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.system.client_file import Client, read_client, write_client
from cadenza.adapters.system.ids import new_id
from cadenza.domain.access import ApiKey, Scope, Tenant, User, hash_of, key_id_of, token_of
from cadenza.domain.audit import AuditEntry
from cadenza.domain.errors import AlreadyThere

TENANT, USER, KEY = "default", "admin", "first"
_DEED = AuditEntry("first start", "key.create")


async def first_key(database: Database, data_folder: Path, url: str) -> str | None:
    """The new admin key where there was no tenant; it is also left where the command line looks."""
    accounts = PostgresAccounts(database)
    if await accounts.list_tenants(None, 1):
        return None
    try:
        admin = await _first_admin(database, accounts)
    except AlreadyThere:  # another program was faster
        return None
    return await _new_key(database, accounts, admin, data_folder, url)


async def key_at_hand(database: Database, data_folder: Path, url: str) -> str | None:
    """As above; also where the file with the key was lost, for who owns the data may have one."""
    if (new := await first_key(database, data_folder, url)) is not None:
        return new
    accounts = PostgresAccounts(database)
    present = read_client(data_folder)
    if present is not None and await _opens(accounts, present.key):
        if present.url != url:
            write_client(data_folder, Client(url, present.key))
        return None
    admin = await _default_admin(accounts)
    return await _new_key(database, accounts, admin, data_folder, url) if admin else None


async def _opens(accounts: PostgresAccounts, token: str) -> bool:
    key_id = key_id_of(token)
    found = await accounts.find_key(key_id) if key_id else None
    return found is not None and found[0].opens_with(token, found[2])


async def _first_admin(database: Database, accounts: PostgresAccounts) -> User:
    now = await DatabaseClock().ask(database)
    tenant = Tenant(new_id(), TENANT, now)
    await accounts.add_tenant(tenant, AuditEntry("first start", "tenant.create"))
    user = User(new_id(), tenant.id, USER, now)
    await accounts.add_user(user, AuditEntry("first start", "user.create"))
    return user


async def _default_admin(accounts: PostgresAccounts) -> User | None:
    after: UUID | None = None
    while tenants := await accounts.list_tenants(after, 200):
        for tenant in tenants:
            if tenant.name == TENANT:
                users = await accounts.list_users(tenant.id)
                return next((user for user in users if user.name == USER), None)
        after = tenants[-1].id
    return None


async def _new_key(
    database: Database, accounts: PostgresAccounts, user: User, data_folder: Path, url: str
) -> str:
    key_id = new_id()
    token = token_of(key_id, secrets.token_urlsafe(32))
    now = await DatabaseClock().ask(database)
    scopes = (Scope.ADMIN,)
    await accounts.add_key(
        ApiKey(key_id, user.tenant_id, user.id, KEY, scopes, hash_of(token), now), _DEED
    )
    write_client(data_folder, Client(url, token))
    return token
