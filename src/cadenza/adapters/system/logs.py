"""What every line of a log has: ids of what it is about, and no secrets."""

import logging
import re
import sys
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any, cast

import structlog

from cadenza.application.ports.tracing import present_traceparent
from cadenza.application.present import present_claim, present_request

Line = MutableMapping[str, Any]
MASK = "***"
# What nobody meant to log: our keys, credentials of a header, passwords in an address.
_SECRETS = re.compile(
    r"""(?P<key>\b(?:cdz_|whsec_|sk-))[A-Za-z0-9_\-+/=]{8,}
    | (?P<scheme>\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/\-]{8,}=*
    | (?P<address>://[^\s:/@]*:)[^\s/@]+(?=@)""",
    re.VERBOSE | re.IGNORECASE,
)


def add_present(_logger: object, _method: str, line: Line) -> Line:
    """Tenant, endpoint, run and trace of the task that logs, where there are any."""
    claim, request = present_claim.get(), present_request.get()
    if claim is not None:
        line.setdefault("tenant_id", str(claim.tenant_id))
        line.setdefault("endpoint_id", str(claim.subject_id))
        line.setdefault("run_id", str(claim.run_id))
    if request is not None:
        line.setdefault("request_id", request.request_id)
        if request.tenant_id is not None:
            line.setdefault("tenant_id", str(request.tenant_id))
    traceparent = present_traceparent.get()
    if traceparent is not None:
        line.setdefault("trace_id", traceparent.split("-")[1])
    return line


def mask_secrets(_logger: object, _method: str, line: Line) -> Line:
    for name, value in line.items():
        line[name] = masked(value)
    return line


def masked(value: Any, depth: int = 4) -> Any:
    if isinstance(value, str):
        return _SECRETS.sub(lambda match: f"{match[match.lastgroup or 0]}{MASK}", value)
    if depth and isinstance(value, dict):
        fields = cast("dict[Any, Any]", value)
        return {name: masked(inner, depth - 1) for name, inner in fields.items()}
    if depth and isinstance(value, list | tuple):
        return [masked(inner, depth - 1) for inner in cast("list[Any]", value)]
    return value


class Forwarded(logging.Handler):
    """What libraries log goes the same way: a JSON log has no lines of plain text in it."""

    def emit(self, record: logging.LogRecord) -> None:
        level = logging.getLevelName(record.levelno).lower()
        write = getattr(structlog.get_logger(), level, None) or structlog.get_logger().warning
        more = {"exc_info": record.exc_info} if record.exc_info else {}
        write(record.getMessage(), logger=record.name, **more)


def log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """What ends a program is in its log like everything else."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        structlog.get_logger().critical("the program has failed", exc_info=(kind, error, trace))
