"""How a command ends: an exit code, and one error that says what to do about it.

Problem details (RFC 9457) and broken connections become such errors too.
"""

import http.client
import socket
import ssl
from enum import IntEnum
from typing import Any, cast

from cadenza.cli.context import Server
from cadenza.cli.terminal_text import plain, shortened
from cadenza.client.errors import ApiProblem, ClientError, NotCadenza, Unreachable
from cadenza.domain.errors import CadenzaError


class ExitCode(IntEnum):
    OK = 0
    REFUSED = 1  # the server, or a file, says no: invalid, refused, exists already
    USAGE = 2  # the command was not written as it should be
    NOT_FOUND = 3
    NOT_ALLOWED = 4  # no key, one that opens nothing, or one that may not do this
    UNREACHABLE = 5  # no server, or none that can answer now


MOST_ERRORS = 20
_CODES = {
    401: ExitCode.NOT_ALLOWED,
    403: ExitCode.NOT_ALLOWED,
    404: ExitCode.NOT_FOUND,
    429: ExitCode.UNREACHABLE,
}


class CommandError(CadenzaError):
    """Why a command did not do what it was asked, with the fix."""

    def __init__(self, message: str, code: ExitCode = ExitCode.REFUSED) -> None:
        self.exit_code = code
        super().__init__(message)


def usage(message: str) -> CommandError:
    return CommandError(message, ExitCode.USAGE)


class ApiError(CommandError):
    """What the server answered instead of what was wanted."""

    def __init__(self, status: int, problem: dict[str, Any], message: str) -> None:
        self.status = status
        self.problem = problem
        # A server that is in trouble cannot answer; that is not a refusal.
        code = ExitCode.UNREACHABLE if status >= 500 else _CODES.get(status, ExitCode.REFUSED)
        super().__init__(message, code)


def command_error(error: ClientError, server: Server) -> CommandError:
    if isinstance(error, ApiProblem):
        message = _message(error.status, error.problem, server)
        return ApiError(error.status, error.problem, message)
    if isinstance(error, Unreachable):
        return unreachable(error.reason, server)
    failed = error.status if isinstance(error, NotCadenza) and error.status >= 300 else None
    answered = "answers, but" if failed is None else f"answered {failed}, and"
    return CommandError(
        f"{server.url} {answered} does not look like a Cadenza server. Check --server.",
        ExitCode.UNREACHABLE,
    )


def _message(status: int, problem: dict[str, Any], server: Server) -> str:
    title, detail = plain(problem["title"]), shortened(plain(problem.get("detail", "")))
    if status == 401:
        return (
            f"{title}: {detail}. The key came from {server.key_from}. Use another with --key or "
            "CADENZA_API_KEY, or run this where `cadenza up` was started."
        )
    errors = cast("list[dict[str, Any]]", problem.get("errors") or [])
    if not errors:
        return f"{title}: {detail}" if detail and detail != title else title
    fields = [f"{error['field']}: {error['value']}: {error['fix']}" for error in errors]
    lines = [f"  {shortened(plain(field))}" for field in fields[:MOST_ERRORS]]
    if (more := len(errors) - MOST_ERRORS) > 0:
        lines.append(f"  and {more} more")
    return "\n".join([f"{title}:", *lines])


def unreachable(reason: BaseException, server: Server) -> CommandError:
    advice = "Start one with `cadenza up`, or choose another with --server or CADENZA_API_URL."
    return CommandError(
        f"Cannot reach the server at {server.url}: {_why(reason)}. {advice}",
        ExitCode.UNREACHABLE,
    )


def _why(reason: object) -> str:
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    if isinstance(reason, ConnectionRefusedError):
        return "nothing is listening there"
    if isinstance(reason, socket.gaierror):
        return "unknown host name"
    if isinstance(reason, ssl.SSLError):
        return f"no secure connection ({reason.reason or 'TLS'})"
    if isinstance(reason, http.client.HTTPException | ConnectionError):
        return "the connection was closed"
    return plain(getattr(reason, "strerror", None) or reason)
