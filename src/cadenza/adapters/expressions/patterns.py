"""Patterns of `matches()`, by RE2: its time grows with the text and never faster.

The CEL library would compile a pattern anew at every use, by another engine whose programs may be
large. So its own `matches` is never called: expressions are compiled with another name in its
place, of the same length, so that positions in errors stay true.
"""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

from cadenza.adapters.expressions.shape import TOKEN, TooComplex

_re2: Any = re2
STAND_IN = "matcheS"
MAX_PROGRAM = 5000  # steps
_MAX_MEMORY = 256 * 1024  # bytes to compile one, and to run it


def with_our_matches(expression: str) -> str:
    """Where it is called; a field may have that name."""
    parts = list(TOKEN.finditer(expression))
    written = [part for part in parts if part.lastgroup != "blank"]
    calls = {
        part.start()
        for part, following in pairwise(written)
        if part[0] == "matches" and following[0] == "("
    }
    return "".join(STAND_IN if part.start() in calls else part[0] for part in parts)


@lru_cache(maxsize=2000)
def compiled(pattern: str) -> Any:
    """TooComplex where it is no pattern, or too large a one."""
    try:
        program = _re2.compile(pattern.encode("utf-8", "replace"), _options())
    except _re2.error as error:
        reason: object = error.args[0] if error.args else b""
        why = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise TooComplex(f"{pattern[:80]!r} is no pattern: {why[:100]}") from error
    if program.programsize > MAX_PROGRAM:
        raise TooComplex(f"{pattern[:80]!r} is too large a pattern; write it with less repetition")
    return program


def matches(text: object, pattern: object) -> bool:
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise TypeError("matches() takes a text and a pattern")
    return compiled(pattern).search(text.encode("utf-8", "replace")) is not None


def _options() -> Any:
    options = _re2.Options()
    options.max_mem = _MAX_MEMORY
    options.never_capture = True
    options.log_errors = False
    return options
