"""`cadenza keys`, which open the API, and `signing-keys`, with which receivers verify calls."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.lookup import find_job, one_of
from cadenza.cli.output import Column, Output
from cadenza.domain.access import Scope

OfJob = Annotated[
    str | None, typer.Option("--job", help="For one job only; job owners may do this too.")
]
KeyName = Annotated[str, typer.Argument(metavar="KEY", help="A key's name or id.")]
ONCE = "Shown only once. Store it safely."
cli = typer.Typer()
keys = group("keys", "Manage API keys.")
cli.add_typer(keys)
signing = group("signing-keys", "Manage the keys that sign requests, for receivers to verify.")
cli.add_typer(signing)


@command(keys, "list")
def list_keys(api: Api, out: Output, job: OfJob = None) -> None:
    """List the tenant's API keys. Needs the admin scope.

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
    out.rows(api.get(_path(api, job))["items"], columns, "No keys.")


@command(keys, "create")
def create_key(
    api: Api,
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of your choice.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="A scope. Default: read. Repeatable.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="Expiry: a time, or a duration from now such as 30d.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="The user it acts for. Default: you.")] = None,
    job: Annotated[
        list[str] | None, typer.Option(help="Restrict the key to this job. Repeatable.")
    ] = None,
) -> None:
    """Create an API key. It is shown once.

    Example: cadenza keys create grafana --scope read --expires 90d
    """
    body: dict[str, Any] = {"name": name, "scopes": scope or [Scope.READ]}
    if expires is not None:
        body["expires_at"] = out.times.from_now("--expires", expires)
    if user is not None:
        users = api.get("/users")["items"]
        body["user_id"] = one_of(users, "user", user, "cadenza keys users")["id"]
    path = "/keys"
    if job and len(job) == 1 and user is None:  # which an owner of that job may, too
        path = _path(api, job[0])
    elif job:
        body["job_ids"] = [find_job(api, name)["id"] for name in job]
    key = api.create(path, body)
    out.done(key, f"{key['key']}\n{ONCE}")


@command(keys, "rotate")
def rotate_key(
    api: Api,
    out: Output,
    name: KeyName,
    overlap: Annotated[str | None, typer.Option(help="How long the old key keeps working.")] = None,
    yes: Yes = False,
) -> None:
    """Replace a key with a new one. It is shown once.

    Example: cadenza keys rotate grafana --overlap 1d
    """
    old = _find(api, name)
    if overlap is None:
        after = "The old key stops working at once; use --overlap to keep it working for a while."
        ask(f"Rotate the key {old['name']}? {after}", yes=yes)
    body = {"overlap": overlap} if overlap else {}
    key = api.post(f"/keys/{old['id']}/rotate", body)
    out.done(key, f"{key['key']}\n{ONCE}")


@command(keys, "revoke")
def revoke_key(api: Api, out: Output, name: KeyName, job: OfJob = None, yes: Yes = False) -> None:
    """Revoke a key. It stops working at once.

    Example: cadenza keys revoke grafana
    """
    path = _path(api, job)
    key = _find(api, name, path)
    ask(f"Revoke the key {key['name']}? It stops working at once.", yes=yes)
    revoked = api.delete(f"{path}/{key['id']}")
    out.done(revoked, f"Revoked the key {revoked['name']}.")


@command(keys, "users")
def list_users(api: Api, out: Output) -> None:
    """List the tenant's users, for whom keys can be made.

    Example: cadenza keys users
    """
    columns = [
        Column("name", lambda user: user["name"]),
        Column("created", lambda user: out.times.relative(user["created_at"])),
        Column("id", lambda user: user["id"], is_id=True),
    ]
    out.rows(api.get("/users")["items"], columns, "No users.")


def _path(api: Api, job: str | None) -> str:
    return "/keys" if job is None else f"/jobs/{find_job(api, job)['id']}/keys"


def _find(api: Api, name: str, path: str = "/keys") -> dict[str, Any]:
    """By name only among those that still open something."""
    keys = api.get(path)["items"]
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
    """List the tenant's signing keys. Needs the admin scope.

    Example: cadenza signing-keys list
    """
    times = out.times
    columns = [
        Column("created", lambda key: times.when(key["created_at"])),
        Column("retires", lambda key: times.when(key["retires_at"], "has no end yet")),
        Column("id", lambda key: key["id"], is_id=True),
    ]
    nothing = "No signing keys: requests are not signed. Create one: cadenza signing-keys create"
    out.rows(api.get("/signing-keys")["items"], columns, nothing)


@command(signing, "create")
def create_signing_key(
    api: Api,
    out: Output,
    overlap: Annotated[
        str | None, typer.Option(help="How long older keys keep signing too.")
    ] = None,
    no_overlap: Annotated[
        bool, typer.Option("--no-overlap", help="Stop older keys from signing immediately.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Create a signing key. Its secret, for receivers, is shown once.

    Example: cadenza signing-keys create --overlap 7d
    """
    body = {"overlap": overlap} if overlap else {}
    if no_overlap:
        ask(
            "Stop all older signing keys? Receivers that only know those will refuse requests.",
            yes=yes,
        )
    key = api.post("/signing-keys", {**body, "no_overlap": no_overlap})
    out.done(key, f"{key['secret']}\nShown only once. Configure it in your receivers.")
