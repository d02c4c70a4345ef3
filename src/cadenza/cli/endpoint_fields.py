"""An endpoint's fields as options: what a person writes, and the document that is sent."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import typer

from cadenza.cli.commands import panel_option
from cadenza.cli.errors import usage
from cadenza.cli.terminal_text import plain

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
NONE = "none"  # takes a field away


def _field(panel: str, name: str, about: str, *, default: Any = None) -> Any:
    return field(default=default, metadata={"option": panel_option(panel, name, about)})


_what, _when = partial(_field, "What is called"), partial(_field, "When it runs")


@dataclass(frozen=True, slots=True)
class EndpointFields:
    """Each is an option of `create` and `edit`."""

    url: str | None = _what("--url", "The URL to call.")
    method: str | None = _what("--method", "The HTTP method. Default: GET, or POST with --body.")
    headers: list[str] | None = _what("--header", "NAME=VALUE. Repeatable.")  # noqa: RUF009 - a field
    secret_headers: list[str] | None = _what(  # noqa: RUF009 - a field
        "--secret-header",
        "NAME='${VARIABLE}' reads the environment; NAME alone prompts. Repeatable.",
    )
    body: str | None = _what("--body", "The request body: text, or @file.")
    timeout: str | None = _what("--timeout", "The time limit of a run, such as 30s.")
    success_statuses: list[int] | None = _what(  # noqa: RUF009 - a field
        "--success-status", "A status code that counts as success. Repeatable."
    )
    success_when: str | None = _what(
        "--success-when", "An expression on the response, such as 'body.ok == true'."
    )
    max_redirects: int | None = _what("--max-redirects", "Redirects to follow. Default: none.")
    command: str | None = _what("--command", "A command line to run, if the admin allows it.")
    folder: str | None = _what("--folder", "The working folder of the command.")
    queue: str | None = _what(
        "--queue", "A broker: redis://host/0, amqp://user@host, nats://host or kafka://host."
    )
    topic: str | None = _what("--topic", "The stream, queue, subject or topic to publish to.")
    exchange: str | None = _what(
        "--exchange", "RabbitMQ only: the exchange; --topic is the routing key."
    )
    password: str | None = _what("--password", "The broker's password: '${VARIABLE}', or ask.")
    await_result: bool | None = _what(
        "--await-result/--no-await-result", "Keep the run open until its result is reported."
    )
    reply_to: str | None = _what("--reply-to", "The topic to which consumers report results.")
    every: str | None = _when("--every", "Run at an interval, such as 5s, 10m or 1h30m.")
    cron: str | None = _when("--cron", "A cron expression, such as '0 9 * * mon-fri'.")
    timezone: str | None = _when("--timezone", "The time zone of --cron, such as Europe/Paris.")
    on_demand: bool = _when("--on-demand", "Run only when a hint or a person asks.", default=False)
    min_interval: str | None = _when("--min", "The shortest time between runs.")
    max_interval: str | None = _when("--max", "The longest time between runs.")
    backoff: str | None = _when(
        "--backoff", "doubling (default): each failure doubles the interval; none: never."
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
            "password": _password(self.password, environment),
        }
        return {
            # `none` is itself a back-off; of everything else it takes the field away
            name: None if value in (NONE, NONE.upper()) and name != "backoff" else value
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
        elif not (secret := environment.get(variable[1], "").strip()):
            problem = f"the variable {variable[1]} is not set, or empty."
            raise usage(f"--secret-header {plain(name)}: {problem}")
        else:
            secrets[name] = secret
    return secrets or None


def _password(option: str | None, environment: Mapping[str, str]) -> str | None:
    if option in (None, NONE):
        return option
    if option == "ask":
        return typer.prompt("password", hide_input=True, err=True)
    if (variable := _VARIABLE.fullmatch(option)) is None:
        raise usage(
            "--password: a secret written here would stay in your history. Write '${VARIABLE}' in "
            "single quotes, or ask."
        )
    if not (secret := environment.get(variable[1], "").strip()):
        raise usage(f"--password: the variable {variable[1]} is not set, or empty.")
    return secret


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
