"""`cadenza mcp`: the tools of an assistant, over standard input and output."""

import asyncio
from typing import Annotated

import typer

from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError, ExitCode, usage
from cadenza.client.core import Api
from cadenza.domain.errors import InvalidInput
from cadenza.mcp.stdio import serve_stdio
from cadenza.roots.documents import documents_folder

cli = typer.Typer()


@cli.command()
def mcp(
    ctx: typer.Context,
    server: Annotated[
        str | None,
        typer.Option(help="The server's URL. Default: CADENZA_API_URL, or the local server."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="The API key. Default: CADENZA_API_KEY, or the local key.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer only tools that change nothing.")
    ] = False,
) -> None:
    """Serve MCP tools for an assistant over stdin and stdout.

    An assistant starts it; the same tools are at /mcp of a server. It asks the API with your key.

    Example: cadenza mcp --read-only
    """
    context: CliContext = ctx.obj
    address = context.find_server(server, key)
    if address.key is None:
        raise CommandError(
            f"No key for {address.url}. `cadenza up` leaves one where this command finds it; "
            f"otherwise set {address.key_from}, or give --key.",
            ExitCode.NOT_ALLOWED,
        )
    try:
        Api(address.url, address.key, context.new_id)
    except InvalidInput as error:
        raise usage(f"{address.url!r} or the key from {address.key_from}: {error.fix}") from error
    asyncio.run(serve_stdio(address.url, address.key, documents_folder(), only_reads=read_only))
