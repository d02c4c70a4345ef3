"""What can be read: the documentation, a job as YAML, an endpoint."""

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import FunctionResource

from cadenza.client.errors import ClientError, Missing, NoSuchName
from cadenza.client.generated import operations
from cadenza.mcp.bounded import as_json, bounded
from cadenza.mcp.endpoint_tools import TOO_LONG, yaml_of
from cadenza.mcp.registry import clients_of
from cadenza.mcp.words import words_of

LONGEST = 60_000  # characters
SCHEME = "cadenza://"


@cache
def documents_in(folder: Path) -> tuple[FunctionResource, ...]:
    """Every page, by its path."""
    return tuple(
        _document(path, path.relative_to(folder).with_suffix("").as_posix())
        for path in sorted(folder.rglob("*.md"))
    )


def _document(path: Path, name: str) -> FunctionResource:
    return FunctionResource(
        uri=f"{SCHEME}docs/{quote(name)}",
        name=name,
        title=_title(path),
        mime_type="text/markdown",
        fn=lambda: _cut(path.read_text(encoding="utf-8")),
    )


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip() or path.stem


def add_templates(server: MCPServer[Any]) -> None:
    @server.resource(
        f"{SCHEME}jobs/{{job}}/manifest",
        name="job-manifest",
        title="A job as YAML",
        mime_type="application/yaml",
    )
    async def job_manifest(job: str, ctx: Context[Any, Any]) -> str:
        """A job with its endpoints and rules, as apply_manifest takes it; no secret is in it."""
        async with clients_of(ctx) as api:
            try:
                stored = await api.call(operations.GET_JOB, job)
                text = await yaml_of(api, stored["name"], LONGEST)
            except ClientError as error:
                raise _refused(error) from error
        if text is None:
            raise ResourceError(TOO_LONG)
        return text

    @server.resource(
        f"{SCHEME}endpoints/{{job}}/{{endpoint}}",
        name="endpoint",
        title="An endpoint",
        mime_type="application/json",
    )
    async def endpoint_record(job: str, endpoint: str, ctx: Context[Any, Any]) -> str:
        """An endpoint as it is now."""
        async with clients_of(ctx) as api:
            try:
                record = await api.call(operations.GET_ENDPOINT, f"{job}/{endpoint}")
            except ClientError as error:
                raise _refused(error) from error
        return as_json(bounded(record)[0])

    del job_manifest, endpoint_record  # the server has them


def _refused(error: ClientError) -> ResourceError:
    kind = ResourceNotFoundError if isinstance(error, Missing | NoSuchName) else ResourceError
    return kind(words_of(error))


def _cut(text: str) -> str:
    more = len(text) - LONGEST
    return text if more <= 0 else f"{text[:LONGEST]}\n\n(cut: {more:,} more characters)\n"
