"""What a YAML parser says, with what to do about it."""

from typing import Any

import yaml

_QUOTE = "put the text in quotes"
_BEGINNINGS = {
    "\t": "indent with spaces, not with tabs",
    "*": 'text that begins with * goes in quotes, like "*/5 * * * *"',
    "&": _QUOTE,
    "!": _QUOTE,
    "@": 'text that begins with @ goes in quotes, like "@daily"',
    "`": _QUOTE,
    "%": _QUOTE,
}
_GENERAL = "check the indentation, the brackets and the quotes up to here"


def advice_on(error: yaml.YAMLError, text: str) -> tuple[int, int, str]:
    """Line, column, and the message with the fix."""
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = str(getattr(error, "problem", None) or error).partition("\n")[0]
    if mark is None:
        return 1, 1, f"it cannot be read: {said}"
    lines = text.splitlines()
    row, column = int(mark.line), int(mark.column)
    fix = _fix(lines[row] if row < len(lines) else "", column)
    return row + 1, column + 1, f"it cannot be read: {said}: {fix}"


def _fix(line: str, column: int) -> str:
    for at in (column, column - 1):  # behind an * the parser points one further
        if 0 <= at < len(line) and line[at] in _BEGINNINGS:
            return _BEGINNINGS[line[at]]
    if line[column : column + 1] == ":":
        return "text that holds a colon and a space goes in quotes"
    return _GENERAL
