"""Users of a tenant, and their first keys."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import AdminApi
from cadenza.cli.lookup import one_of
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import quoted
from cadenza.domain.access import Scope

MOST_TENANTS = 100_000
TenantName = Annotated[str, typer.Argument(metavar="TENANT", help="A tenant's name or id.")]
UserName = Annotated[str, typer.Argument(metavar="USER", help="A user's name or id.")]


def find_tenant(api: AdminApi, name: str) -> dict[str, Any]:
    return one_of(api.pages("/tenants", MOST_TENANTS), "tenant", name, "cadenza tenants list")


def list_users(api: AdminApi, out: Output, tenant: TenantName) -> None:
    """List the users of a tenant.

    Example: cadenza tenants users acme
    """
    columns = [
        Column("name", lambda user: user["name"]),
        Column("created", lambda user: out.times.relative(user["created_at"])),
        Column("id", lambda user: user["id"], keep_whole=True),
    ]
    nothing = f"No users yet. Create one: cadenza tenants create-user {quoted(tenant)} NAME"
    out.rows(_users(api, tenant)[1], columns, nothing)


def create_user(
    api: AdminApi,
    out: Output,
    tenant: TenantName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Unique in the tenant.")],
) -> None:
    """Create a user of a tenant.

    Example: cadenza tenants create-user acme ada
    """
    user = api.create(f"/tenants/{find_tenant(api, tenant)['id']}/users", {"name": name})
    following = f"cadenza tenants create-key {quoted(tenant)} {quoted(user['name'])}"
    out.done(user, f"Created the user {user['name']}. Next: {following}")


def delete_user(api: AdminApi, out: Output, tenant: TenantName, user: UserName) -> None:
    """Delete a user with their keys.

    Example: cadenza tenants delete-user acme ada
    """
    tenant_id, users = _users(api, tenant)
    user_record = one_of(users, "user", user, f"cadenza tenants users {quoted(tenant)}")
    gone = api.delete(f"/tenants/{tenant_id}/users/{user_record['id']}")
    out.done(gone, f"Deleted the user {user_record['name']} and their keys.")


def create_key(
    api: AdminApi,
    out: Output,
    tenant: TenantName,
    user: UserName,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "first",
    scope: Annotated[list[Scope] | None, typer.Option(help="admin unless given; several.")] = None,
) -> None:
    """Create a key for a user; it is shown once.

    Example: cadenza tenants create-key acme ada --scope operate
    """
    tenant_id, users = _users(api, tenant)
    user_record = one_of(users, "user", user, f"cadenza tenants users {quoted(tenant)}")
    body = {"name": name, "scopes": scope or [Scope.ADMIN]}
    key = api.post(f"/tenants/{tenant_id}/users/{user_record['id']}/keys", body)
    out.done(key, f"{key['key']}\nShown this once: keep it.")


def _users(api: AdminApi, tenant: str) -> tuple[str, list[dict[str, Any]]]:
    tenant_id = find_tenant(api, tenant)["id"]
    return tenant_id, api.get(f"/tenants/{tenant_id}/users")["items"]
