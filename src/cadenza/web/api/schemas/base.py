"""What response schemas share."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from cadenza.domain.instants import FOREVER


class ResponseSchema(BaseModel):
    """Made field by field, or from a value with such attributes; `validation_alias` is the name of
    an attribute that differs from the field's."""

    model_config = ConfigDict(frozen=True, from_attributes=True, validate_by_name=True)


class _AsText:
    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.simple_ser_schema("str")
        return {**handler(kind), "serialization": text}  # pyright: ignore[reportReturnType]


# Of a StrEnum that is sent by the thousand: it is its own text, and need not be asked for it.
AS_TEXT = _AsText()

# The same for an id: left to itself, pydantic asks one of the database for its number and writes
# that out, which takes three times as long as its text.
Id = Annotated[
    UUID,
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "uuid"}),
]


def null_if_endless(instant: datetime | None) -> datetime | None:
    """The far instant that stands for "until resumed" is sent as null."""
    return None if instant is None or instant >= FOREVER else instant


class LimitsResponse(ResponseSchema):
    """What one run of a graph may use."""

    time: str = Field(examples=["10m"])
    memory_mb: int
    steps: int
    calls: int | None = Field(description="null: no limit but the account's credits.")
    tokens: int | None
    credits: int | None
    cpus: float | None = Field(description="Reserved on a cluster; null: nothing is.")
    gpus: float | None
