"""What goes between a program and the process that runs its expressions: length, then content.

Questions go as pickles, which only we write. Answers come back as JSON: whatever an expression
might do to the process that runs it, it says nothing here that is more than data.
"""

import json
import pickle
import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from cadenza.domain.errors import InvalidInput, NothingThere

HEADER = struct.Struct(">I")
MAX_TEXT = 1000  # characters of what an expression gives
_EMPTY: dict[str, Any] = {"list": [], "dict": {}, "bytes": b"", "timedelta": timedelta(0)}

Answered = tuple[Any, float]  # what it gave, and seconds of processor time


def framed(content: bytes) -> bytes:
    return HEADER.pack(len(content)) + content


def asked_frame(questions: Sequence[tuple[str, dict[str, Any]]]) -> bytes:
    return framed(pickle.dumps(questions, protocol=5))


def read_asked(content: bytes) -> list[tuple[str, dict[str, Any]]]:
    return pickle.loads(content)  # noqa: S301 - our own


def answer_frame(answers: Sequence[Answered]) -> bytes:
    return framed(json.dumps([(_encoded(result), spent) for result, spent in answers]).encode())


def ended_frame(index: int) -> bytes:
    """Of which question the process was ended."""
    return framed(json.dumps({"ended": index}).encode())


def read_answers(content: bytes, expressions: Sequence[str]) -> list[Answered] | int:
    """As many as there was time for; or the index of the one that was ended."""
    answers = json.loads(content)
    if isinstance(answers, dict):
        return int(cast("dict[str, Any]", answers)["ended"])
    pairs = zip(answers, expressions, strict=False)
    return [(_result(result, expression), spent) for (result, spent), expression in pairs]


def _encoded(result: Any) -> dict[str, Any]:
    if isinstance(result, InvalidInput):
        kind = "missing" if isinstance(result, NothingThere) else "wrong"
        return {kind: result.fix}
    if isinstance(result, str):
        return {"is": result[:MAX_TEXT].encode("utf-8", "replace").decode()}
    if result is None or isinstance(result, bool | int | float):
        return {"is": result}
    if isinstance(result, datetime):
        return {"at": result.isoformat()}
    return {"a": type(result).__name__}


def _result(answer: dict[str, Any], expression: str) -> Any:
    match answer:
        case {"is": value}:
            return value
        case {"at": text}:
            instant = datetime.fromisoformat(text)
            return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
        case {"missing": fix}:
            return NothingThere("expression", expression, fix)
        case {"wrong": fix}:
            return InvalidInput("expression", expression, fix)
        case _:
            return _EMPTY.get(answer["a"], ())
