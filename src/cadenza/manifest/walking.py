"""The jobs and endpoints of a document that may be wrong in every way."""

from collections.abc import Iterator
from typing import Any, cast

Item = tuple[str, dict[str, Any]]  # the path, and what stands there


def jobs_in(raw: object) -> Iterator[Item]:
    return _items(raw, "jobs", "")


def endpoints_in(job: dict[str, Any], path: str) -> Iterator[Item]:
    return _items(job, "endpoints", f"{path}.")


def _items(raw: object, field: str, prefix: str) -> Iterator[Item]:
    items = cast("dict[str, Any]", raw).get(field) if isinstance(raw, dict) else None
    if not isinstance(items, list):
        return
    for place, item in enumerate(cast("list[Any]", items)):
        if isinstance(item, dict):
            yield f"{prefix}{field}[{place}]", cast("dict[str, Any]", item)
