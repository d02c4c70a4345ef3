"""An endpoint's fields as options: what a person writes, and the document that is sent."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.cli.errors import usage
from cadenza.cli.terminal_text import plain

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
NONE = "none"  # takes a field away


def _option(name: str, about: str, panel: str) -> Any:
    return typer.Option(name, help=about, rich_help_panel=panel, show_default=False)


WHEN, WHAT = "When it runs", "What is called"


@dataclass(frozen=True, slots=True)
class EndpointFields:
    """Each is an option of `create` and `edit`."""

    url: Annotated[str | None, _option("--url", "The address that is called.", WHAT)] = None
    method: Annotated[
        str | None, _option("--method", "GET, or POST with a body, unless given.", WHAT)
    ] = None
    headers: Annotated[list[str] | None, _option("--header", "NAME=VALUE; several.", WHAT)] = None
    secret_headers: Annotated[
        list[str] | None,
        _option(
            "--secret-header",
            "NAME='${VARIABLE}' takes it from the environment, NAME alone asks for it; several.",
            WHAT,
        ),
    ] = None
    body: Annotated[str | None, _option("--body", "Text, or @file.", WHAT)] = None
    timeout: Annotated[str | None, _option("--timeout", "How long an answer may take.", WHAT)] = (
        None
    )
    success_statuses: Annotated[
        list[int] | None, _option("--success-status", "What counts as success; several.", WHAT)
    ] = None
    success_when: Annotated[
        str | None, _option("--success-when", "An expression, like 'body.ok == true'.", WHAT)
    ] = None
    max_redirects: Annotated[
        int | None, _option("--max-redirects", "How many are followed.", WHAT)
    ] = None
    command: Annotated[
        str | None,
        _option("--command", "A command line, where the admin allows commands.", WHAT),
    ] = None
    folder: Annotated[str | None, _option("--folder", "In which the command works.", WHAT)] = None
    every: Annotated[str | None, _option("--every", "Like 5s, 10m, 1h30m.", WHEN)] = None
    cron: Annotated[str | None, _option("--cron", "Five fields, like '0 9 * * mon-fri'.", WHEN)] = (
        None
    )
    timezone: Annotated[
        str | None, _option("--timezone", "Of the cron, like Europe/Paris.", WHEN)
    ] = None
    on_demand: Annotated[
        bool, _option("--on-demand", "Only when a hint or a person asks for it.", WHEN)
    ] = False
    min_interval: Annotated[str | None, _option("--min", "The least time between runs.", WHEN)] = (
        None
    )
    max_interval: Annotated[str | None, _option("--max", "The most time between runs.", WHEN)] = (
        None
    )

    def document(self, environment: Mapping[str, str]) -> dict[str, Any]:
        """What was given, by the names of the API; `none` becomes null: the field is taken away."""
        fields = {
            **asdict(self),
            "on_demand": True if self.on_demand else None,
            "method": self.method.upper() if self.method else None,
            "headers": _headers(self.headers),
            "secret_headers": _secrets(self.secret_headers, environment),
            "body": _body(self.body),
            "success_statuses": self.success_statuses or None,
            "command": _command(self.command),
        }
        return {
            name: None if value in (NONE, NONE.upper()) else value
            for name, value in fields.items()
            if value is not None
        }


def _headers(options: Sequence[str] | None) -> dict[str, str | None] | None:
    headers: dict[str, str | None] = {}
    for option in options or ():
        name, sign, value = option.partition("=")
        if not sign:
            raise usage(f"--header {plain(option)!r}: write NAME=VALUE, like Accept=text/plain")
        headers[name.strip()] = None if value == NONE else value
    return headers or None


def _secrets(
    options: Sequence[str] | None, environment: Mapping[str, str]
) -> dict[str, str | None] | None:
    """A secret on a command line would be in the history of the shell, and in the list of
    processes."""
    secrets: dict[str, str | None] = {}
    for option in options or ():
        name, sign, value = option.partition("=")
        name = name.strip()
        variable = _VARIABLE.fullmatch(value)
        if not sign:
            secrets[name] = typer.prompt(plain(name), hide_input=True, err=True)
        elif value == NONE:
            secrets[name] = None
        elif variable is None:
            header = plain(name)
            raise usage(
                f"--secret-header {header}: a secret written here would stay in your history. "
                f"Write {header}='${{VARIABLE}}' in single quotes, or {header} alone to be asked."
            )
        else:
            secrets[name] = _from(environment, name, variable[1])
    return secrets or None


def _from(environment: Mapping[str, str], name: str, variable: str) -> str:
    if value := environment.get(variable, "").strip():
        return value
    raise usage(f"--secret-header {plain(name)}: the variable {variable} is not set, or empty.")


def _body(option: str | None) -> str | None:
    if option is None or not option.startswith("@"):
        return option
    try:
        return Path(option[1:]).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"--body {plain(option)}: it cannot be read: {plain(error)}") from error


def _command(option: str | None) -> list[str] | str | None:
    if option in (None, NONE):
        return option
    try:
        return shlex.split(option)
    except ValueError as error:
        raise usage(f"--command: it cannot be read: {error}") from error
