"""How a model is shown what the scheduler knows, and what others wrote.

Facts are plain JSON. What a target, or an earlier analysis, wrote is taken out of it, and stands
below it between marks that nobody outside the session can know.
"""

import json
from collections.abc import Collection
from typing import Any, cast

from cadenza.application.descriptions import REPEATED
from cadenza.domain.redaction import redacted
from cadenza.domain.target import Secret

MAX_DATA = 30_000  # characters; what does not fit is left out as a whole
LEFT_OUT = "(left out: too long)"
_WRITTEN_BY_TARGETS = ("body", "reasoning")
_MAY_QUOTE_TARGETS = ("model", "detector")  # as authors of a reason


def with_data_marked(
    value: Any, marker: str, secrets: Collection[Secret] = (), *, between: str = ""
) -> str:
    """Our own words, and below them the words of others under the names that stand in place."""
    others: dict[str, Any] = {}
    facts = _json(_facts(redacted(value, secrets), others)).replace(marker, "")
    parts = (facts, between, as_data(others, marker) if others else "")
    return "\n".join(part for part in parts if part)


def as_data(entries: dict[str, Any], marker: str) -> str:
    """Marked, and with nothing in it that looks like the mark."""
    fitting, left = dict[str, Any](), MAX_DATA
    for name, entry in entries.items():
        left -= len(_json(entry))
        fitting[name] = entry if left >= 0 else LEFT_OUT
    return f"<data-{marker}>\n{_json(fitting).replace(marker, '')}\n</data-{marker}>"


def encodable(text: str) -> str:
    """Without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode()


def _facts(value: Any, others: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_facts(entry, others) for entry in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    facts: dict[str, Any] = {}
    for name, field in fields.items():
        if _is_of_others(name, fields) and field not in (None, "", REPEATED):
            facts[name] = f"data {len(others) + 1}"
            others[facts[name]] = field
        else:
            facts[name] = _facts(field, others)
    return facts


def _is_of_others(name: str, fields: dict[str, Any]) -> bool:
    if name == "reason":
        return fields.get("set_by") in _MAY_QUOTE_TARGETS
    return name in _WRITTEN_BY_TARGETS


def _json(value: Any) -> str:
    return encodable(json.dumps(value, ensure_ascii=False, default=str))
