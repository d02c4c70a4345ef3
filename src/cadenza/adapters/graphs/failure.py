"""Why a graph failed, as one of our codes.

Clients of models are many and none is imported here: an exception is known by its status, by the
body of the answer (the run gateway puts our own code there) and by the name of its class.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from cadenza.domain.graph import ErrorCode

MAX_MESSAGE = 2000
MAX_CAUSES = 6
_STATUS = {
    400: ErrorCode.INVALID_REQUEST,
    402: ErrorCode.INSUFFICIENT_CREDITS,
    404: ErrorCode.NOT_FOUND,
    408: ErrorCode.TIMEOUT,
    413: ErrorCode.INVALID_REQUEST,
    422: ErrorCode.INVALID_REQUEST,
    429: ErrorCode.RATE_LIMIT,
}
_NAMES = {
    "APITimeoutError": ErrorCode.TIMEOUT,
    "TimeoutException": ErrorCode.TIMEOUT,
    "TimeoutError": ErrorCode.TIMEOUT,
    "NodeTimeoutError": ErrorCode.TIMEOUT,
    "Timeout": ErrorCode.TIMEOUT,
    "RateLimitError": ErrorCode.RATE_LIMIT,
    "APIConnectionError": ErrorCode.PROVIDER_UNAVAILABLE,
    "InternalServerError": ErrorCode.PROVIDER_UNAVAILABLE,
    "TransportError": ErrorCode.PROVIDER_UNAVAILABLE,
    "ClientConnectionError": ErrorCode.PROVIDER_UNAVAILABLE,
    "ConnectionError": ErrorCode.PROVIDER_UNAVAILABLE,
    "GraphRecursionError": ErrorCode.ABORTED,
    "MemoryError": ErrorCode.ABORTED,
    "EmptyInputError": ErrorCode.INVALID_REQUEST,
}


class GraphFailed(Exception):
    """A failure whose code is known where it is raised."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)


def code_of(error: BaseException) -> ErrorCode:
    for cause in _causes(error):
        code = _own_code(cause)
        if code is not None:
            return code
    return ErrorCode.INTERNAL


def message_of(error: BaseException) -> str:
    if isinstance(error, GraphFailed):
        return str(error)
    if isinstance(error, SystemExit):
        return f"the graph called sys.exit({error.code!r})"[:MAX_MESSAGE]
    if isinstance(error, MemoryError):
        return "the graph needs more memory than its limit"
    text = _text(error)
    return f"{type(error).__name__}: {text}"[:MAX_MESSAGE] if text else type(error).__name__


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error itself, then what it was raised from; of a group, its first member."""
    cause: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if cause is None:
            return
        yield cause
        group = cast(BaseExceptionGroup[BaseException], cause)
        inner = group.exceptions[0] if isinstance(cause, BaseExceptionGroup) else None
        cause = inner or cause.__cause__


def _own_code(error: BaseException) -> ErrorCode | None:
    if isinstance(error, GraphFailed):
        return error.code
    response = getattr(error, "response", None)
    code = _code_in(getattr(error, "body", None)) or _code_in(_json_of(response))
    if code is not None:
        return code
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int) and not isinstance(status, bool):
        if status >= 500:
            return ErrorCode.PROVIDER_UNAVAILABLE
        if status in _STATUS:
            return _STATUS[status]
    names = (_NAMES.get(base.__name__) for base in type(error).__mro__)
    return next((code for code in names if code is not None), None)


def _code_in(body: Any) -> ErrorCode | None:
    """The `type` of {"error": {"type": …}}; clients hand on the whole body, or the inner object."""
    if not isinstance(body, Mapping):
        return None
    outer = cast(Mapping[str, Any], body)
    inner = outer.get("error", outer)
    code = cast(Mapping[str, Any], inner).get("type") if isinstance(inner, Mapping) else None
    return ErrorCode(code) if isinstance(code, str) and code in set(ErrorCode) else None


def _json_of(response: Any) -> Any:
    try:
        return response.json() if hasattr(response, "json") else None
    except Exception:  # noqa: BLE001 — a stream not read, no JSON, a coroutine: then it tells nothing
        return None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 — the user's own __str__
        return ""
