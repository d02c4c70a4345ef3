"""A call as a line for a terminal; what is secret in it is masked."""

import shlex

from cadenza.domain.target import KEPT, HttpTarget, ShellTarget, Target


def command_of(target: Target) -> str | None:
    """A curl line, or the command that is run; None of a graph or a function, which no terminal
    calls."""
    if isinstance(target, HttpTarget):
        return _curl(target)
    if not isinstance(target, ShellTarget):
        return None
    line = shlex.join(target.command)
    return f"cd {shlex.quote(target.folder)} && {line}" if target.folder else line


def _curl(target: HttpTarget) -> str:
    parts = [f"curl --include --max-time {target.timeout.total_seconds():g}"]
    if target.max_redirects:
        parts.append(f"--location --max-redirs {target.max_redirects}")
    if target.method == "HEAD":
        parts.append("--head")
    elif target.method != ("GET" if target.body is None else "POST"):
        parts.append(f"--request {target.method}")
    headers = {**target.headers, **dict.fromkeys(target.secret_headers, KEPT)}
    parts += [f"--header {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    if target.body is not None:
        parts.append(f"--data-raw {shlex.quote(target.body)}")
    return " \\\n  ".join([*parts, shlex.quote(target.url)])
