"""What response schemas share."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from cadenza.domain.instants import FOREVER


class ResponseSchema(BaseModel):
    """Made field by field, or from a value with such attributes; `validation_alias` is the name of
    an attribute that differs from the field's."""

    model_config = ConfigDict(frozen=True, from_attributes=True, validate_by_name=True)


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
