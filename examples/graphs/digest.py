"""`python:digest:digest`: no model and no framework, an async generator is enough.

What it yields are the events of the run; the last value is its output.
"""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any


async def digest(values: dict[str, Any]) -> AsyncIterator[str | dict[str, Any]]:
    lines = [str(line) for line in values.get("lines", [])]
    yield f"reading {len(lines)} lines"
    words = Counter(word.lower().strip(".,;:!?") for line in lines for word in line.split())
    yield {"lines": len(lines), "words": words.total(), "most": dict(words.most_common(3))}
