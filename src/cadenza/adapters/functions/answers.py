"""What a function returned or raised, as the outcome of its run."""

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from cadenza.application.response_bodies import within_cap
from cadenza.application.sanitizing import clean_text
from cadenza.domain.run import Body, Outcome, RunStatus

LAST_LINES = 11
MAX_MESSAGE = 2_000
MAX_WHAT = 1_000  # what it says itself, so that there is room for where
_CALLERS = ("cadenza.adapters.functions", "concurrent.futures", "asyncio")


def success_of(value: Any) -> Outcome:
    """With a dict, dataclass, Pydantic model, number, text … as JSON; a failure if it has none."""
    if value is None or isinstance(value, str | bool):
        return Outcome(RunStatus.SUCCESS, body=within_cap(value))
    kind = type(value).__name__
    if isinstance(value, Iterator):  # Pydantic would read it to its end, which may never come
        message = f"it returned a value of type {kind}, which may be endless; return a list"
        return Outcome(RunStatus.FAILURE, "answer", message)
    try:
        body: Body = within_cap(to_jsonable_python(value, inf_nan_mode="null"))
    except (PydanticSerializationError, ValueError) as error:  # ValueError: as of a huge integer
        message = (
            f"it returned a value of type {kind} that cannot be written as JSON ({error}); return "
            "a dict, a list, a dataclass, a Pydantic model, a number or text"
        )
        return Outcome(RunStatus.FAILURE, "answer", clean_text(message)[:MAX_MESSAGE])
    return Outcome(RunStatus.SUCCESS, body=body)


def failure_of(error: BaseException) -> Outcome:
    """What was raised, and below it the last lines of the traceback, from where the user's own code
    begins."""
    try:
        shown = traceback.TracebackException(type(error), error, _users(error.__traceback__))
        what = "".join(shown.format_exception_only()).strip()
        trace = "".join(shown.format()).rstrip().removesuffix(what)
    except Exception:  # noqa: BLE001 - the user's own __str__
        what, trace = type(error).__name__, ""
    lines = [what[:MAX_WHAT], *trace.rstrip().splitlines()[-LAST_LINES:]]
    return Outcome(RunStatus.FAILURE, "exception", clean_text("\n".join(lines))[:MAX_MESSAGE])


def _users(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(_CALLERS):
        trace = trace.tb_next
    return trace
