"""The keys with which an account reaches providers of models, of `cadenza accounts`."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.context import CliContext
from cadenza.cli.errors import usage
from cadenza.cli.lookup import one_of
from cadenza.cli.output import Column, Output

Item = dict[str, Any]
AccountName = Annotated[str, typer.Argument(metavar="ACCOUNT", help="An account's name or id.")]
KeyName = Annotated[str, typer.Argument(metavar="KEY", help="The key's name or id.")]
ADDRESSES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def add_key_commands(accounts: typer.Typer, find_account: Callable[[Api, str], Item]) -> None:
    def path_of(api: Api, account: str) -> str:
        return f"/accounts/{find_account(api, account)['id']}/keys"

    @command(accounts, "keys")
    def list_keys(api: Api, out: Output, account: AccountName) -> None:
        """List an account's provider keys. Calls use the default key of each API.

        Example: cadenza accounts keys research
        """
        columns = [
            Column("name", lambda key: key["name"]),
            Column("api", lambda key: key["api"], rank=2),
            Column("address", lambda key: key["base_url"], rank=1, is_text=True),
            Column("key", lambda key: f"…{key['hint']}"),
            Column("state", lambda key: _state(out, key)),
        ]
        nothing = "No provider keys yet. Add one: cadenza accounts create-key ACCOUNT NAME"
        out.rows(api.get(path_of(api, account))["items"], columns, nothing)

    @command(accounts, "create-key")
    def create_key(
        api: Api,
        out: Output,
        context: CliContext,
        account: AccountName,
        name: Annotated[str, typer.Argument(metavar="NAME", help="A name of your choice.")],
        kind: Annotated[
            str, typer.Option("--api", help="The API: openai or anthropic.")
        ] = "openai",
        base_url: Annotated[str | None, typer.Option(help="The provider's URL.")] = None,
        secret: Annotated[
            str | None, typer.Option(help="The key: '${VARIABLE}'. Default: prompt.")
        ] = None,
        default: Annotated[
            bool, typer.Option("--default", help="Use this key by default.")
        ] = False,
    ) -> None:
        """Add a provider's API key to an account. It is stored encrypted.

        The first key of an api is its default. Any server that speaks the api will do, like a
        LiteLLM proxy.

        Example: cadenza accounts create-key research main --secret '${OPENAI_API_KEY}'
        """
        path = path_of(api, account)
        body = {
            "name": name,
            "api": kind,
            "base_url": base_url or ADDRESSES.get(kind, ""),
            "secret_key": _secret(secret, context.environment),
            "is_default": default,
        }
        key = api.create(path, body)
        use = "Calls are made with it." if key["is_default"] else "It is not the default."
        out.done(key, f"Added the key {key['name']} (…{key['hint']}) for {key['api']}. {use}")

    @command(accounts, "default-key")
    def default_key(api: Api, out: Output, account: AccountName, name: KeyName) -> None:
        """Make this the default key for calls.

        Example: cadenza accounts default-key research spare
        """
        path = path_of(api, account)
        chosen = api.post(f"{path}/{_find(api, path, name)['id']}/default")
        out.done(chosen, f"Calls to {chosen['api']} are made with the key {chosen['name']}.")

    @command(accounts, "revoke-key")
    def revoke_key(
        api: Api, out: Output, account: AccountName, name: KeyName, yes: Yes = False
    ) -> None:
        """Remove a provider key. No other key becomes the default.

        Example: cadenza accounts revoke-key research main
        """
        path = path_of(api, account)
        key = _find(api, path, name)
        ask(f"Forget the key {key['name']}? It cannot be recovered.", yes=yes)
        gone = api.delete(f"{path}/{key['id']}")
        out.done(gone, f"Revoked the key {gone['name']}.")

    del list_keys, create_key, default_key, revoke_key  # registered by their decorators


def _find(api: Api, path: str, name: str) -> Item:
    """By name only among those that are not revoked."""
    keys = api.get(path)["items"]
    living = [key for key in keys if key["revoked_at"] is None or key["id"] == name]
    return one_of(living, "key", name, "cadenza accounts keys")


def _state(out: Output, key: Item) -> str:
    if key["revoked_at"]:
        return f"revoked {out.times.relative(key['revoked_at'])}"
    return "default" if key["is_default"] else "spare"


def _secret(written: str | None, environment: Mapping[str, str]) -> str:
    """Written on a command line it would stay in the history of the shell."""
    if written is None:
        return typer.prompt("The provider's key", hide_input=True, err=True)
    variable = _VARIABLE.fullmatch(written)
    if variable is None:
        fix = "Write '${VARIABLE}' in single quotes, or leave it out to be prompted."
        raise usage(f"--secret: a key written here would stay in your history. {fix}")
    if value := environment.get(variable[1], "").strip():
        return value
    raise usage(f"--secret: the variable {variable[1]} is not set, or empty.")
