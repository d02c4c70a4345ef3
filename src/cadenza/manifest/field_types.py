"""The kinds of fields that documents have: forgiving about how a thing is written."""

from itertools import islice
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from cadenza.domain import target_validation as most
from cadenza.domain.planner_policy import MAX_RELAX
from cadenza.domain.queue_validation import MAX_TOPIC
from cadenza.manifest.durations import EXPECTED, is_zero, parse_duration

MAX_UNKNOWN = 100


class Document(BaseModel):
    """Unknown fields are refused, and a number in quotes is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _with_few_unknown(cls, raw: Any) -> Any:
        """Of a hundred thousand unknown fields each would be a problem, and take its time."""
        if not isinstance(raw, dict):
            return raw
        fields = cast("dict[str, Any]", raw)
        if len(fields) <= MAX_UNKNOWN:
            return fields
        known = cls.field_names()
        unknown = islice((name for name in fields if name not in known), MAX_UNKNOWN)
        return {name: fields[name] for name in (*(known & fields.keys()), *unknown)}

    @classmethod
    def field_names(cls) -> set[str]:
        """However they are written."""
        aliases = {field.alias for field in cls.model_fields.values() if field.alias is not None}
        return aliases | cls.model_fields.keys()


def _readable_duration(value: Any) -> Any:
    """Parsed here so that the error names the field; the document has it as it was written."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(EXPECTED)
    parse_duration(value)
    return value


def _few_headers(value: Any) -> Any:
    """Before each of them is looked at."""
    headers = cast("dict[str, Any]", value)
    if isinstance(value, dict) and len(headers) > most.MAX_HEADERS:
        raise ValueError(f"{most.MAX_HEADERS} headers are the most")
    return headers


def _readable_relax(value: Any) -> Any:
    """Checked here, for the branches of a union would each have an error of their own."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, int | float) or not 1 <= value <= MAX_RELAX:
        raise ValueError(f"write true, false, or how many times, from 1 to {MAX_RELAX:g}")
    return float(value)


Milliseconds = Annotated[int, Field(ge=1, le=31_622_400_000)]
Duration = Annotated[
    Milliseconds | Annotated[str, Field(min_length=2, max_length=40)],
    BeforeValidator(_readable_duration),
    Field(description=f"A duration: {EXPECTED}.", examples=["5m", 300_000]),
]
DurationOrZero = Annotated[
    Annotated[int, Field(ge=0, le=31_622_400_000)]
    | Annotated[str, Field(min_length=1, max_length=40)],
    BeforeValidator(lambda value: 0 if is_zero(value) else _readable_duration(value)),
]
ModeWord = Literal["off", "advise", "act"]
Relax = Annotated[
    bool | Annotated[float, Field(ge=1, le=MAX_RELAX)], BeforeValidator(_readable_relax)
]
Expression = Annotated[str, Field(min_length=1, max_length=1000)]
Headers = Annotated[
    dict[str, str], Field(max_length=most.MAX_HEADERS), BeforeValidator(_few_headers)
]
Status = Annotated[int, Field(ge=100, le=599)]
Command = Annotated[list[str], Field(min_length=1, max_length=most.MAX_ARGUMENTS)]
Topic = Annotated[str, Field(min_length=1, max_length=MAX_TOPIC)]
Label = Annotated[str, Field(min_length=1, max_length=127)]
GraphId = Annotated[str, Field(min_length=3, max_length=240)]
GRAPH_EXAMPLES = ["langgraph:poet", "python:shop.jobs:digest"]
