"""`cadenza keys`, which open the API, and `signing-keys`, with which receivers verify calls."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.lookup import one_of
from cadenza.cli.output import Column, Output
from cadenza.domain.access import Scope

KeyName = Annotated[str, typer.Argument(metavar="KEY", help="A key's name or id.")]
ONCE = "Shown this once: keep it."
cli = typer.Typer()
keys = group("keys", "API keys: create (shown once), list, rotate, revoke.")
cli.add_typer(keys)
signing = group("signing-keys", "Signing keys: receivers verify with them that a call is ours.")
cli.add_typer(signing)


@command(keys, "list")
def list_keys(api: Api, out: Output) -> None:
    """List the tenant's keys; for keys with the scope admin.

    Example: cadenza keys list
    """
    times = out.times
    columns = [
        Column("name", lambda key: key["name"]),
        Column("scopes", lambda key: ", ".join(key["scopes"]), rank=2),
        Column("state", lambda key: _state(out, key)),
        Column("last used", lambda key: times.relative(key["last_used_at"], "never"), rank=1),
        Column("created", lambda key: times.relative(key["created_at"]), rank=3),
        Column("id", lambda key: key["id"], is_id=True),
    ]
    out.rows(api.get("/keys")["items"], columns, "No keys.")


@command(keys, "create")
def create_key(
    api: Api,
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    scope: Annotated[list[Scope] | None, typer.Option(help="read unless given; several.")] = None,
    expires: Annotated[str | None, typer.Option(help="An instant, or like 30d from now.")] = None,
    user: Annotated[str | None, typer.Option(help="Whom it acts for; yourself.")] = None,
) -> None:
    """Create a key; it is shown once.

    Example: cadenza keys create grafana --scope read --expires 90d
    """
    body: dict[str, Any] = {"name": name, "scopes": scope or [Scope.READ]}
    if expires is not None:
        body["expires_at"] = out.times.from_now("--expires", expires)
    if user is not None:
        users = api.get("/users")["items"]
        body["user_id"] = one_of(users, "user", user, "cadenza keys users")["id"]
    key = api.create("/keys", body)
    out.done(key, f"{key['key']}\n{ONCE}")


@command(keys, "rotate")
def rotate_key(
    api: Api,
    out: Output,
    name: KeyName,
    overlap: Annotated[str | None, typer.Option(help="How long the old one still works.")] = None,
) -> None:
    """Put a new key in the place of another; it is shown once.

    Example: cadenza keys rotate grafana --overlap 1d
    """
    body = {"overlap": overlap} if overlap else {}
    key = api.post(f"/keys/{_find(api, name)['id']}/rotate", body)
    out.done(key, f"{key['key']}\n{ONCE}")


@command(keys, "revoke")
def revoke_key(api: Api, out: Output, name: KeyName, yes: Yes = False) -> None:
    """End a key: it opens nothing from now on.

    Example: cadenza keys revoke grafana
    """
    found = _find(api, name)
    ask(f"Revoke the key {found['name']}? Whoever calls with it is refused.", yes=yes)
    key = api.delete(f"/keys/{found['id']}")
    out.done(key, f"Revoked the key {key['name']}.")


@command(keys, "users")
def list_users(api: Api, out: Output) -> None:
    """List the tenant's users, for whom keys act.

    Example: cadenza keys users
    """
    columns = [
        Column("name", lambda user: user["name"]),
        Column("created", lambda user: out.times.relative(user["created_at"])),
        Column("id", lambda user: user["id"], is_id=True),
    ]
    out.rows(api.get("/users")["items"], columns, "No users.")


def _find(api: Api, name: str) -> dict[str, Any]:
    """By name only among those that still open something."""
    keys = api.get("/keys")["items"]
    living = [key for key in keys if key["revoked_at"] is None or key["id"] == name]
    return one_of(living, "key", name, "cadenza keys list")


def _state(out: Output, key: dict[str, Any]) -> str:
    if key["revoked_at"]:
        return f"revoked {out.times.relative(key['revoked_at'])}"
    if key["expires_at"]:
        return f"expires {out.times.relative(key['expires_at'])}"
    return "valid"


@command(signing, "list")
def list_signing_keys(api: Api, out: Output) -> None:
    """List the tenant's signing keys; for keys with the scope admin.

    Example: cadenza signing-keys list
    """
    times = out.times
    columns = [
        Column("created", lambda key: times.when(key["created_at"])),
        Column("retires", lambda key: times.when(key["retires_at"], "has no end yet")),
        Column("id", lambda key: key["id"], is_id=True),
    ]
    nothing = "No signing keys; calls are not signed. Make one: cadenza signing-keys create"
    out.rows(api.get("/signing-keys")["items"], columns, nothing)


@command(signing, "create")
def create_signing_key(
    api: Api,
    out: Output,
    overlap: Annotated[str | None, typer.Option(help="How long those before sign too.")] = None,
    no_overlap: Annotated[bool, typer.Option("--no-overlap", help="End those before now.")] = False,
    yes: Yes = False,
) -> None:
    """Make a new signing key; its secret, for receivers, is shown once.

    Example: cadenza signing-keys create --overlap 7d
    """
    body = {"overlap": overlap} if overlap else {}
    if no_overlap:
        ask("End every signing key of before now? Receivers that know only those refuse.", yes=yes)
    key = api.post("/signing-keys", {**body, "no_overlap": no_overlap})
    out.done(key, f"{key['secret']}\nShown this once: give it to the receivers.")
