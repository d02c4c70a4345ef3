"""What a callable says of its input."""

from dataclasses import dataclass
from typing import Any, TypedDict

from pydantic import BaseModel

from cadenza.adapters.graphs.input_schema import MAX_SCHEMA, input_schema_of


class Asked(TypedDict, total=False):
    topic: str


@dataclass
class AskedToo:
    topic: str


class Model(BaseModel):
    topic: str


async def typed(values: Asked) -> None: ...


def with_dataclass(values: AskedToo, context: Any) -> None: ...


class Callable:
    def __call__(self, values: Model) -> None: ...


def plain(values: dict[str, Any]) -> None: ...


def nothing() -> None: ...


def broken(values: "NoSuchName") -> None: ...  # type: ignore[name-defined]  # noqa: F821


def test_fields_of_the_first_parameter_are_the_schema() -> None:
    for target in (typed, with_dataclass, Callable()):
        schema = input_schema_of("python:x", target)
        assert schema is not None
        assert schema["properties"]["topic"]["type"] == "string"


def test_one_that_says_nothing_has_none_and_is_no_error() -> None:
    for target in (plain, nothing, broken, print, len, 5, object()):
        assert input_schema_of("python:x", target) is None
    assert input_schema_of("langgraph:x", nothing) is None


def test_a_schema_beyond_all_measure_is_left_out() -> None:
    class Endless:
        def get_input_jsonschema(self) -> dict[str, Any]:
            return {"description": "x" * MAX_SCHEMA}

    assert input_schema_of("langgraph:x", Endless()) is None
