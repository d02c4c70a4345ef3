"""How much of a response body is kept."""

import json

from cadenza.domain.run import Body

MAX_BODY = 64 * 1024  # bytes of JSON
_encode = json.JSONEncoder(ensure_ascii=False).encode  # made once, not for each answer


def within_cap(output: Body) -> Body:
    """A longer body becomes text and is cut, as the answer of a server is."""
    text = output if isinstance(output, str) else _encode(output)
    raw = text.encode(errors="replace")
    return output if len(raw) <= MAX_BODY else raw[:MAX_BODY].decode(errors="ignore")
