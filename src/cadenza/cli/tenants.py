"""`cadenza tenants`: made by the installation's admin, with a key of their own."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import AdminApi
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit
from cadenza.cli.errors import usage
from cadenza.cli.lookup import one_of
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import counted, quoted
from cadenza.domain.access import Scope

MOST_TENANTS = 100_000
TenantName = Annotated[str, typer.Argument(metavar="TENANT", help="A tenant's name or id.")]
UserName = Annotated[str, typer.Argument(metavar="USER", help="A user's name or id.")]
cli = group("tenants", "Manage tenants and their users. Needs the installation's admin key.")


@command(cli, "list")
def list_tenants(api: AdminApi, out: Output, limit: Limit = 50) -> None:
    """List tenants.

    Example: CADENZA_ADMIN_KEY=… cadenza tenants list
    """
    columns = [
        Column("name", lambda tenant: tenant["name"]),
        Column("created", lambda tenant: out.times.relative(tenant["created_at"]), rank=2),
        Column("retention", _retention, rank=1),
        Column("id", lambda tenant: tenant["id"], is_id=True),
    ]
    nothing = "No tenants yet. Create one: cadenza tenants create NAME"
    out.rows(api.pages("/tenants", limit), columns, nothing, limit)


@command(cli, "show")
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


@command(cli, "create")
def create_tenant(
    api: AdminApi,
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Unique.")],
    retention_days: Annotated[
        int | None, typer.Option(help="Days to keep runs, if fewer than the default.")
    ] = None,
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


@command(cli, "delete")
def delete_tenant(
    api: AdminApi,
    out: Output,
    name: TenantName,
    confirm: Annotated[
        str | None, typer.Option(help="The tenant's name, instead of the confirmation prompt.")
    ] = None,
) -> None:
    """Delete a tenant permanently, with everything it owns.

    Example: cadenza tenants delete acme --confirm acme
    """
    tenant = find_tenant(api, name)
    if confirm is None:
        confirm = typer.prompt("This cannot be undone. Type the tenant's name to confirm", err=True)
    if confirm != tenant["name"]:
        raise usage("Nothing was deleted: the name does not match.")
    out.done(
        api.delete(f"/tenants/{tenant['id']}", {"confirm": confirm}),
        f"Deleted the tenant {tenant['name']}.",
    )


def _retention(tenant: dict[str, Any]) -> str:
    days = tenant["retention_days"]
    return "as the installation" if days is None else f"{days} days"


def find_tenant(api: AdminApi, name: str) -> dict[str, Any]:
    return one_of(api.pages("/tenants", MOST_TENANTS), "tenant", name, "cadenza tenants list")


@command(cli, "users")
def list_users(api: AdminApi, out: Output, tenant: TenantName) -> None:
    """List the users of a tenant.

    Example: cadenza tenants users acme
    """
    columns = [
        Column("name", lambda user: user["name"]),
        Column("created", lambda user: out.times.relative(user["created_at"]), rank=1),
        Column("id", lambda user: user["id"], is_id=True),
    ]
    nothing = f"No users yet. Create one: cadenza tenants create-user {quoted(tenant)} NAME"
    out.rows(api.get(_users_path(api, tenant))["items"], columns, nothing)


@command(cli, "create-user")
def create_user(
    api: AdminApi,
    out: Output,
    tenant: TenantName,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name that is unique in the tenant.")
    ],
) -> None:
    """Create a user in a tenant.

    Example: cadenza tenants create-user acme ada
    """
    user = api.create(_users_path(api, tenant), {"name": name})
    following = f"cadenza tenants create-key {quoted(tenant)} {quoted(user['name'])}"
    out.done(user, f"Created the user {user['name']}. Next: {following}")


@command(cli, "delete-user")
def delete_user(
    api: AdminApi, out: Output, tenant: TenantName, user: UserName, yes: Yes = False
) -> None:
    """Delete a user and their keys.

    Example: cadenza tenants delete-user acme ada
    """
    path, name = _find_user(api, tenant, user)
    ask(f"Delete the user {name} and their keys? This cannot be undone.", yes=yes)
    out.done(api.delete(path), f"Deleted the user {name} and their keys.")


@command(cli, "create-key")
def create_key(
    api: AdminApi,
    out: Output,
    tenant: TenantName,
    user: UserName,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "first",
    scope: Annotated[
        list[Scope] | None, typer.Option(help="A scope. Default: admin. Repeatable.")
    ] = None,
) -> None:
    """Create an API key for a user. It is shown once.

    Example: cadenza tenants create-key acme ada --scope operate
    """
    path, _ = _find_user(api, tenant, user)
    key = api.post(f"{path}/keys", {"name": name, "scopes": scope or [Scope.ADMIN]})
    out.done(key, f"{key['key']}\nShown only once. Store it safely.")


@command(cli, "stop-planner")
def stop_planner(
    api: AdminApi,
    out: Output,
    reason: Annotated[str, typer.Option(help="A reason, shown to every tenant.")] = "",
    yes: Yes = False,
) -> None:
    """Stop the planner in all tenants. Its modes are kept.

    Example: cadenza tenants stop-planner --reason "the provider is away"
    """
    ask("Stop the planner in every tenant?", yes=yes)
    switched = api.post("/installation/planner/stop", {"reason": reason})
    out.done(
        switched,
        f"The planner is stopped in {counted(switched['tenants'], 'tenant')}, with the modes of "
        f"{counted(switched['jobs'], 'job')}. Start it again: cadenza tenants start-planner",
    )


@command(cli, "start-planner")
def start_planner(api: AdminApi, out: Output) -> None:
    """Start the planner again, except in tenants that stopped it themselves.

    Example: cadenza tenants start-planner
    """
    switched = api.post("/installation/planner/start")
    tenants, jobs = counted(switched["tenants"], "tenant"), counted(switched["jobs"], "job")
    out.done(
        switched,
        f"The planner is running again in {tenants}, and {jobs} are back to their own modes.",
    )


def _users_path(api: AdminApi, tenant: str) -> str:
    return f"/tenants/{find_tenant(api, tenant)['id']}/users"


def _find_user(api: AdminApi, tenant: str, name: str) -> tuple[str, str]:
    """The user's path and name."""
    path = _users_path(api, tenant)
    listing = f"cadenza tenants users {quoted(tenant)}"
    user = one_of(api.get(path)["items"], "user", name, listing)
    return f"{path}/{user['id']}", user["name"]
