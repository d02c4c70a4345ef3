"""Ids by how they begin: what a person copies from a list is enough to name a thing."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from cadenza.application.ports.ids import IdKind
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.patterns import BEGINNING_OF_ID
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.base import ResponseSchema

MOST = 5
DIGITS = 32
routes = router("Ids", "/ids")
Begins = Annotated[
    str,
    Query(
        min_length=8,
        max_length=36,
        pattern=BEGINNING_OF_ID,
        description="How the id begins, with its hyphens or without.",
        examples=["01a1ece2-aff1"],
    ),
]


class IdsResponse(ResponseSchema):
    items: list[UUID]
    more: bool


@routes.get("")
async def list_ids(
    caller: Reader, dependencies: ApiDependencies, kind: IdKind, begins: Begins
) -> IdsResponse:
    """The ids of one kind that begin so, a few at most."""
    digits = begins.replace("-", "")[:DIGITS]
    first, last = (UUID(hex=digits.ljust(DIGITS, digit)) for digit in "0f")
    ids = dependencies.reads.ids
    matches = await ids.ids_between(caller.tenant_id, kind, first, last, MOST + 1)
    return IdsResponse(items=list(matches[:MOST]), more=len(matches) > MOST)
