"""Every way in which asking a provider can fail, as a reason that a person may read.

What a provider says about a key that it rejects may hold parts of that key, so its message is used
only where it is about the request, and never without redaction.
"""

from collections.abc import Collection
from datetime import timedelta
from math import isfinite
from typing import Any, cast

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelTimeoutError,
)

from cadenza.application.sanitizing import clean_text
from cadenza.domain.errors import BrainFailed, ProviderFailed
from cadenza.domain.redaction import redacted
from cadenza.domain.target import Secret

MAX_QUOTED = 200
_DAY = 86_400.0


def failure_of(error: Exception, secrets: Collection[Secret]) -> BrainFailed:
    reason = clean_text(redacted(_reason(error), secrets))
    # Another session may well succeed; a wrong key or address fails all of them.
    fails_all = isinstance(error, ModelAuthenticationError | ModelNotFoundError)
    if isinstance(error, ModelRequestRejectedError | ContentFilterError) and not fails_all:
        return BrainFailed(reason)
    return ProviderFailed(reason, _retry_after(error))


def _reason(error: Exception) -> str:
    if isinstance(error, ContentFilterError):
        return "the provider's filter refused the request"
    if isinstance(error, ModelRequestTimeout | ModelTimeoutError):
        return "the provider did not answer in time"
    if isinstance(error, ModelHTTPError):
        return f"the provider answered HTTP {error.status_code}{_message(error)}"
    if isinstance(error, ModelConnectionError):
        return f"the provider could not be reached, or broke off{_cause(error)}"
    # Anything else is a library that did not expect such an answer; its text may quote it.
    return f"the provider's answer is not what its protocol says ({type(error).__name__})"


def _message(error: ModelHTTPError) -> str:
    about_the_request = isinstance(error, ModelRequestRejectedError)
    if not about_the_request or isinstance(error, ModelAuthenticationError):
        return ""
    body: Any = error.body
    inner = cast("dict[str, Any]", body).get("error", body) if isinstance(body, dict) else body
    text = cast("dict[str, Any]", inner).get("message") if isinstance(inner, dict) else inner
    return f": {text[:MAX_QUOTED]}" if isinstance(text, str) and text else ""


def _cause(error: ModelConnectionError) -> str:
    """The transport's message is our own library's text, not the provider's."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = str(cause)[:MAX_QUOTED]
    return f" ({text})" if text else ""


def _retry_after(error: Exception) -> timedelta | None:
    asked = error.retry_after if isinstance(error, ModelAPIError) else None
    if asked is None or not isfinite(asked):
        return None
    return timedelta(seconds=min(max(asked, 0.0), _DAY))
