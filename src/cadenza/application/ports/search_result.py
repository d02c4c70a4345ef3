"""A bounded search: what it asks for, its items, and where it stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

T = TypeVar("T")

# Where a list by time has come to: an instant and, among those of the same instant, an id.
TimeCursor = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class Span:
    """What part of a list by time is wanted, and how much of it at once."""

    from_at: datetime | None = None
    to_at: datetime | None = None  # not included
    after: TimeCursor | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[T]):
    """`reached` is None where there is no more. Few items, or none, do not mean the end."""

    items: Sequence[T]
    reached: TimeCursor | None = None
