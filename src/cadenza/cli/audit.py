"""`cadenza audit`: who did what."""

from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit
from cadenza.cli.context import CliContext
from cadenza.cli.instants import ago
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import json_text, shortened

cli = group("audit", "The audit log: who did what.")


@command(cli, "list")
def list_audit(
    api: Api,
    out: Output,
    context: CliContext,
    actor: Annotated[str | None, typer.Option(help="A piece of who did it.")] = None,
    action: Annotated[str | None, typer.Option(help="Like endpoint.pause.")] = None,
    subject: Annotated[str | None, typer.Option(help="The id of what it was done to.")] = None,
    since: Annotated[str | None, typer.Option(help="An instant, or like 2h ago.")] = None,
    limit: Limit = 30,
) -> None:
    """List who did what, the newest first; for keys with the scope admin.

    Example: cadenza audit list --action endpoint.pause --since 1d
    """
    columns = [
        Column("when", lambda entry: out.times.when(entry["at"])),
        Column("who", lambda entry: entry["actor"]),
        Column("did", lambda entry: entry["action"]),
        Column("to", lambda entry: entry["subject"], keep_whole=True),
        Column("with", lambda entry: shortened(json_text(entry["data"]), 100)),
    ]
    from_at = ago(context, "--since", since)
    query = {"actor": actor, "action": action, "subject": subject, "from": from_at}
    out.rows(api.pages("/audit", limit, query), columns, "Nobody did anything that fits.")
