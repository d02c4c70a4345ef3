"""An endpoint without its bad fields, harmless ones in their place: the rest can be checked."""

import re
from collections.abc import Collection, Mapping
from typing import Any

_BASELINE = frozenset(("every", "every_ms", "cron", "timezone", "on_demand"))
_TARGET = frozenset(
    (
        "url", "method", "headers", "secret_headers", "body", "max_redirects", "success_statuses",
        "success_when", "command", "folder",
    )
)  # fmt: skip
_TARGET_KINDS = frozenset(("url", "command"))


def top_field(path: str) -> str:
    """`headers` of `headers.X-Key`, `command` of `command[2]`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def without(raw: Mapping[str, Any], bad: Collection[str]) -> dict[str, Any]:
    gone, stand_ins = set(bad), dict[str, Any]()
    if "name" in gone:
        stand_ins["name"] = "x"
    if gone & _BASELINE:
        gone |= _BASELINE
        stand_ins["on_demand"] = True
    if gone & _TARGET_KINDS:
        gone |= _TARGET
        stand_ins["url"] = "https://example.com/"
    return {name: value for name, value in raw.items() if name not in gone} | stand_ins
