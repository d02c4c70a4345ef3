"""`cadenza grants`: graphs run on somebody's behalf, at an account's cost."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit
from cadenza.cli.lookup import find_account, whole_id
from cadenza.cli.output import Column, Output

EXECUTE = "graph:execute:"
GrantId = Annotated[
    str, typer.Argument(metavar="GRANT", help="A grant id, or its first 8 characters.")
]
cli = group("grants", "Manage grants: permission for graphs to run on your behalf.")


@command(cli, "list")
def list_grants(api: Api, out: Output, limit: Limit = 50) -> None:
    """List the tenant's grants, newest first.

    Example: cadenza grants list
    """
    columns = [
        Column("graphs", _graphs, is_text=True),
        Column("state", lambda grant: grant["state"]),
        Column("expires", lambda grant: out.times.relative(grant["expires_at"], "never"), rank=1),
        Column("id", lambda grant: grant["id"], is_id=True),
    ]
    nothing = "No grants yet. Create one: cadenza grants create --account ACCOUNT --graph GRAPH"
    out.rows(api.pages("/grants", limit), columns, nothing, limit)


@command(cli, "create")
def create_grant(
    api: Api,
    out: Output,
    account: Annotated[str, typer.Option(help="The account that pays, by name or id.")],
    graph: Annotated[list[str], typer.Option(help="A graph id, or * for all. Repeatable.")],
    expires: Annotated[
        str | None, typer.Option(help="Expiry: a time, or a duration from now such as 90d.")
    ] = None,
) -> None:
    """Allow graphs to run on your behalf, paid by an account.

    Example: cadenza grants create --account research --graph langgraph:poet --expires 90d
    """
    body: dict[str, Any] = {
        "account_id": find_account(api, account)["id"],
        "scopes": [f"{EXECUTE}{name}" for name in graph],
        "expires_at": out.times.from_now("--expires", expires),
    }
    grant = api.create("/grants", body)
    out.done(grant, f"{grant['id']}\nGranted: {_graphs(grant)}.")


@command(cli, "show")
def show_grant(api: Api, out: Output, grant: GrantId) -> None:
    """Show one grant and its recent uses.

    Example: cadenza grants show 01a1ece2-aff1-7cb8-9d11-39087edb9677
    """
    times, details = out.times, api.get(f"/grants/{whole_id(api, 'grant', grant)}")
    uses = [
        f"{times.relative(use['at'])}  {use['graph_id']}  {use['refusal'] or 'good'}"
        for use in details["uses"]
    ]
    lines = [
        ("graphs", _graphs(details)),
        ("state", details["state"]),
        ("account", details["account_id"]),
        ("user", details["user_id"]),
        ("schedule", details["schedule_id"]),
        ("endpoint", details["endpoint_id"]),
        ("created", times.when(details["created_at"])),
        ("expires", times.when(details["expires_at"], "never")),
        ("revoked", times.when(details["revoked_at"], "")),
        ("last uses", "\n".join(uses) or "none"),
    ]
    out.one(details, lines)


@command(cli, "revoke")
def revoke_grant(api: Api, out: Output, grant: GrantId, yes: Yes = False) -> None:
    """Revoke a grant. No more runs start under it.

    Example: cadenza grants revoke 01a1ece2-aff1-7cb8-9d11-39087edb9677
    """
    details = api.get(f"/grants/{whole_id(api, 'grant', grant)}")
    ask(f"Revoke the grant for {_graphs(details)}? No more runs will start under it.", yes=yes)
    revoked = api.post(f"/grants/{details['id']}/revoke")
    out.done(revoked, f"Revoked the grant for {_graphs(revoked)}.")


def _graphs(grant: dict[str, Any]) -> str:
    return ", ".join(scope.removeprefix(EXECUTE) for scope in grant["scopes"])
