"""`cadenza signing-keys`: with them receivers verify that a call is ours."""

from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import add, group
from cadenza.cli.output import Column, Output


def list_signing_keys(api: Api, out: Output) -> None:
    """List the tenant's signing keys; for keys with the scope admin.

    Example: cadenza signing-keys list
    """
    times = out.times
    columns = [
        Column("created", lambda key: times.when(key["created_at"])),
        Column("retires", lambda key: times.when(key["retires_at"], "has no end yet")),
        Column("id", lambda key: key["id"], keep_whole=True),
    ]
    nothing = "No signing keys; calls are not signed. Make one: cadenza signing-keys create"
    out.rows(api.get("/signing-keys")["items"], columns, nothing)


def create_signing_key(
    api: Api,
    out: Output,
    overlap: Annotated[str | None, typer.Option(help="How long those before sign too.")] = None,
    no_overlap: Annotated[bool, typer.Option("--no-overlap", help="End those before now.")] = False,
) -> None:
    """Make a new signing key; its secret, for receivers, is shown once.

    Example: cadenza signing-keys create --overlap 7d
    """
    body = {"overlap": overlap} if overlap else {}
    key = api.post("/signing-keys", {**body, "no_overlap": no_overlap})
    out.done(key, f"{key['secret']}\nShown this once: give it to the receivers.")


def register(app: typer.Typer) -> None:
    keys = group("signing-keys", "Signing keys: receivers verify with them that a call is ours.")
    add(keys, "list", list_signing_keys)
    add(keys, "create", create_signing_key)
    app.add_typer(keys)
