"""Arguments and options that commands share; names are completed by asking the server, quickly."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.context import CliContext
from cadenza.cli.errors import usage
from cadenza.cli.lookup import find_job, full_name
from cadenza.domain.errors import CadenzaError

PATIENCE = 1.0  # seconds that a person waits at the Tab key
OFFERED = 200
USUAL_FILE = Path("cadenza.yaml")


def job_names(ctx: typer.Context, incomplete: str) -> list[str]:
    query = {"search": incomplete or None}
    return _offered(
        ctx, incomplete, lambda api: (job["name"] for job in api.pages("/jobs", OFFERED, query))
    )


def endpoint_names(ctx: typer.Context, incomplete: str) -> list[str]:
    def ask(api: Api) -> Iterator[str]:
        job, slash, _ = incomplete.partition("/")
        query = {"job_id": find_job(api, job)["id"]} if slash else {}
        return map(full_name, api.pages("/endpoints", OFFERED, query))

    return _offered(ctx, incomplete, ask)


def _offered(ctx: typer.Context, incomplete: str, ask: Callable[[Api], Iterator[str]]) -> list[str]:
    context: CliContext = ctx.obj
    try:
        server = context.find_server(ctx.params.get("server"), ctx.params.get("key"))
        names = list(ask(Api(server, context.new_id, timeout=PATIENCE)))
    except (CadenzaError, KeyError, TypeError):
        return []  # somebody is typing: no error would help
    return [name for name in names if name.startswith(incomplete) and name.isprintable()]


JobName = Annotated[
    str,
    typer.Argument(metavar="JOB", help="A job's name or id.", autocompletion=job_names),
]
EndpointName = Annotated[
    str,
    typer.Argument(
        metavar="ENDPOINT",
        help="job/endpoint, a unique endpoint name, or an id.",
        autocompletion=endpoint_names,
    ),
]
OfJob = Annotated[
    str | None,
    typer.Option("--job", metavar="JOB", help="Filter by job.", autocompletion=job_names),
]
OfEndpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="ENDPOINT",
        help="Filter by endpoint.",
        autocompletion=endpoint_names,
    ),
]
Since = Annotated[str | None, typer.Option("--since", help="A time, or a duration ago such as 2h.")]
Until = Annotated[str | None, typer.Option(help="A time, or a duration from now such as 2h.")]
Limit = Annotated[
    int, typer.Option("--limit", "-n", min=1, max=100_000, help="The maximum number of results.")
]
NamedFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        readable=False,
        show_default=str(USUAL_FILE),
        help="A file, a folder of YAML files, or - for stdin.",
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option("--file", "-f", readable=False, help="Same as the FILE argument."),
]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


def manifest_file(named: Path | None, option: Path | None) -> Path:
    """The file that a command was given, in one of the two ways of giving it."""
    if named is not None and option is not None:
        raise usage(f"Two files are given, {named} and --file {option}. Give one of them.")
    return named or option or USUAL_FILE
