"""A call as a line for a terminal; what is secret in it is masked."""

import shlex
from collections.abc import Mapping, Sequence

from cadenza.application.sent_requests import SentRequest
from cadenza.domain.target import KEPT, HttpTarget, ShellTarget, Target


def command_of(target: Target) -> str | None:
    """A curl line, or the command that is run; None of a graph or a function, which no terminal
    calls."""
    if isinstance(target, HttpTarget):
        options = [f"--max-time {target.timeout.total_seconds():g}"]
        if target.max_redirects:
            options.append(f"--location --max-redirs {target.max_redirects}")
        headers = {**target.headers, **dict.fromkeys(target.secret_headers, KEPT)}
        return _curl(options, target.method, target.url, headers, target.body)
    if not isinstance(target, ShellTarget):
        return None
    line = shlex.join(target.command)
    return f"cd {shlex.quote(target.folder)} && {line}" if target.folder else line


def command_of_sent(sent: SentRequest) -> str | None:
    """What a run sent, with the headers that say which run it was."""
    if sent.url is not None and sent.method is not None:
        return _curl([], sent.method, sent.url, sent.headers or {}, sent.body)
    return shlex.join(sent.command) if sent.command else None


def _curl(
    options: Sequence[str], method: str, url: str, headers: Mapping[str, str], body: str | None
) -> str:
    parts = [" ".join(["curl --include", *options])]
    if method == "HEAD":
        parts.append("--head")
    elif method != ("GET" if body is None else "POST"):
        parts.append(f"--request {method}")
    parts += [f"--header {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    if body is not None:
        parts.append(f"--data-raw {shlex.quote(body)}")
    return " \\\n  ".join([*parts, shlex.quote(url)])
