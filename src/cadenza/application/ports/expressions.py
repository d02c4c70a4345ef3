from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID


class Owner(NamedTuple):
    """Whose expression it is: tenants take turns, and each job has its own time."""

    tenant_id: UUID
    job_id: UUID


class Question(NamedTuple):
    expression: str
    values: Mapping[str, Any]


class Expressions(Protocol):
    """CEL: small expressions that owners write. They are read here, and run where they can be
    ended."""

    def check(self, field: str, expression: str) -> None:
        """InvalidInput with the position where the expression cannot be read."""
        ...

    def paths(self, expression: str) -> Sequence[tuple[str, ...]]:
        """The fields it takes from outside, each from its name on; those in has() are left out."""
        ...

    async def evaluate(self, owner: Owner, questions: Sequence[Question], /) -> list[Any]:
        """What each gives, in their order. Where one gives nothing, the InvalidInput that says why:
        NothingThere where it asks for a field or element that is not there."""
        ...
