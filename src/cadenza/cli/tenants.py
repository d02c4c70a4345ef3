"""`cadenza tenants`: made by the installation's admin, with a key of their own."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import AdminApi
from cadenza.cli.commands import add, group
from cadenza.cli.complete import Limit
from cadenza.cli.errors import usage
from cadenza.cli.output import Column, Output
from cadenza.cli.tenant_users import (
    TenantName,
    create_key,
    create_user,
    delete_user,
    find_tenant,
    list_users,
)
from cadenza.cli.terminal_text import quoted


def list_tenants(api: AdminApi, out: Output, limit: Limit = 50) -> None:
    """List tenants.

    Example: CADENZA_ADMIN_KEY=… cadenza tenants list
    """
    columns = [
        Column("name", lambda tenant: tenant["name"]),
        Column("created", lambda tenant: out.times.relative(tenant["created_at"])),
        Column("retention", _retention),
        Column("id", lambda tenant: tenant["id"], keep_whole=True),
    ]
    nothing = "No tenants yet. Create one: cadenza tenants create NAME"
    out.rows(api.pages("/tenants", limit), columns, nothing)


def show_tenant(api: AdminApi, out: Output, name: TenantName) -> None:
    """Show one tenant.

    Example: cadenza tenants show acme
    """
    tenant = find_tenant(api, name)
    lines = [
        ("tenant", tenant["name"]),
        ("id", tenant["id"]),
        ("created", out.times.when(tenant["created_at"])),
        ("retention", _retention(tenant)),
    ]
    out.one(tenant, lines)


def create_tenant(
    api: AdminApi,
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Unique.")],
    retention_days: Annotated[int | None, typer.Option(help="Shorter than the usual.")] = None,
) -> None:
    """Create a tenant.

    Example: cadenza tenants create acme
    """
    body: dict[str, Any] = {"name": name}
    if retention_days is not None:
        body["retention_days"] = retention_days
    tenant = api.create("/tenants", body)
    following = f"cadenza tenants create-user {quoted(tenant['name'])} USER"
    out.done(tenant, f"Created the tenant {tenant['name']}. Next: {following}")


def delete_tenant(
    api: AdminApi,
    out: Output,
    name: TenantName,
    confirm: Annotated[
        str | None, typer.Option(help="Its name, to be sure; otherwise it is asked for.")
    ] = None,
) -> None:
    """Delete a tenant with all that is its own. It does not come back.

    Example: cadenza tenants delete acme --confirm acme
    """
    tenant = find_tenant(api, name)
    if confirm is None:
        confirm = typer.prompt("All of it is lost. Write its name, to be sure", err=True)
    if confirm != tenant["name"]:
        raise usage("Nothing was deleted: that is not its name.")
    out.done(
        api.delete(f"/tenants/{tenant['id']}", {"confirm": confirm}),
        f"Deleted the tenant {tenant['name']}.",
    )


def _retention(tenant: dict[str, Any]) -> str:
    days = tenant["retention_days"]
    return "as the installation" if days is None else f"{days} days"


def register(app: typer.Typer) -> None:
    tenants = group("tenants", "Tenants and their users, with the admin's key.")
    add(tenants, "list", list_tenants)
    add(tenants, "show", show_tenant)
    add(tenants, "create", create_tenant)
    add(tenants, "delete", delete_tenant)
    add(tenants, "users", list_users)
    add(tenants, "create-user", create_user)
    add(tenants, "delete-user", delete_user)
    add(tenants, "create-key", create_key)
    app.add_typer(tenants)
