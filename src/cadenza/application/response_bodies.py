"""What is kept of an answer."""

import json

from cadenza.domain.run import Body

MAX_BODY = 64 * 1024  # bytes of JSON


def within_cap(output: Body) -> Body:
    """What is longer becomes text that is cut, as the answer of a server does."""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    raw = text.encode(errors="replace")
    return output if len(raw) <= MAX_BODY else raw[:MAX_BODY].decode(errors="ignore")
