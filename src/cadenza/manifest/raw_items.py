"""The jobs and endpoints of a file that may be wrong in every way."""

from collections.abc import Iterator
from typing import Any, cast

RawItem = tuple[str, dict[str, Any]]  # its path, and its fields


def jobs_in(raw: object) -> Iterator[RawItem]:
    return _items(raw, "jobs", "")


def schedules_in(raw: object) -> Iterator[RawItem]:
    return _items(raw, "schedules", "")


def endpoints_in(job: dict[str, Any], path: str) -> Iterator[RawItem]:
    return _items(job, "endpoints", f"{path}.")


def _items(raw: object, field: str, prefix: str) -> Iterator[RawItem]:
    items = cast("dict[str, Any]", raw).get(field) if isinstance(raw, dict) else None
    if not isinstance(items, list):
        return
    for index, item in enumerate(cast("list[Any]", items)):
        if isinstance(item, dict):
            yield f"{prefix}{field}[{index}]", cast("dict[str, Any]", item)
