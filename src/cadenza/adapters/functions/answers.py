"""What a function returned or raised, as the outcome of its run."""

import traceback
from types import TracebackType
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from cadenza.application.response_bodies import within_cap
from cadenza.application.sanitizing import clean_text
from cadenza.domain.run import Body, Outcome, RunStatus

LAST_LINES = 12
MAX_MESSAGE = 2_000
_CALLERS = ("cadenza.adapters.functions", "concurrent.futures", "asyncio")


class NoAnswer(Exception):
    """What came back cannot be a response body."""


def success_of(value: Any) -> Outcome:
    try:
        return Outcome(RunStatus.SUCCESS, body=within_cap(body_of(value)))
    except NoAnswer as error:
        return Outcome(RunStatus.FAILURE, "answer", str(error))


def body_of(value: Any) -> Body:
    """A dict, dataclass, Pydantic model, number, text …, as JSON; NoAnswer where it is none."""
    if value is None or isinstance(value, str | bool):
        return value
    try:
        return to_jsonable_python(value, inf_nan_mode="null")
    except (PydanticSerializationError, ValueError) as error:
        kind = type(value).__name__
        raise NoAnswer(
            f"it returned a {kind} that is no JSON ({error}); return a dict, a list, a dataclass, "
            "a Pydantic model, a number or text"
        ) from error


def failure_of(error: BaseException) -> Outcome:
    """With the last lines of the traceback, from where the user's own code begins."""
    try:
        text = "".join(traceback.format_exception(type(error), error, _users(error.__traceback__)))
    except Exception:  # noqa: BLE001 - the user's own __str__
        text = type(error).__name__
    lines = text.rstrip().splitlines()
    what, above = lines[-1], lines[-LAST_LINES:-1]
    message = "\n".join([what, *above])
    return Outcome(RunStatus.FAILURE, "exception", clean_text(message)[:MAX_MESSAGE])


def _users(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(_CALLERS):
        trace = trace.tb_next
    return trace
