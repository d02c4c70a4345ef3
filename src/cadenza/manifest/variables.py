"""Secrets from the environment: `${NAME}` as the whole value of a secret header or password."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import KEPT

_WHOLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand(raw: object, environment: Mapping[str, str]) -> list[InvalidInput]:
    """Changes the fields in place; an error names the variable, never a value."""
    errors: list[InvalidInput] = []
    for path, headers, name in _secrets(raw):
        if (variable := _WHOLE.fullmatch(headers[name])) is None:
            continue
        if (value := environment.get(variable[1], "")).strip():
            headers[name] = value
        else:
            fix = f"the environment variable {variable[1]} is not set, or empty; set it"
            errors.append(InvalidInput(path, headers[name], fix))
    return errors


def warnings_on(raw: object) -> Iterator[tuple[str, str]]:
    """Secrets written in the file, and those that only look like a variable, with their paths.

    To be called before `expand`, which replaces the variables.
    """
    for path, headers, name in _secrets(raw):
        text = headers[name]
        if text == KEPT or _WHOLE.fullmatch(text):
            continue
        if "${" in text:
            yield path, "${NAME} is only replaced where it is the whole value; it is sent as it is"
        else:
            yield path, "the secret itself stands in the file: write ${NAME} and set the variable"


def items_in(raw: object, field: str, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The jobs or endpoints in what may be wrong in every way: path and fields of each."""
    items = cast("dict[str, Any]", raw).get(field) if isinstance(raw, dict) else None
    for index, item in enumerate(cast("list[Any]", items) if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield f"{prefix}{field}[{index}]", cast("dict[str, Any]", item)


def _secrets(raw: object) -> Iterator[tuple[str, dict[str, str], str]]:
    """Path, the fields that hold it, and its name, of every secret that is text."""
    for job_path, job in items_in(raw, "jobs"):
        for path, endpoint in items_in(job, "endpoints", f"{job_path}."):
            if isinstance(endpoint.get("password"), str):
                yield f"{path}.password", endpoint, "password"
            headers = endpoint.get("secret_headers")
            if isinstance(headers, dict):
                headers = cast("dict[str, Any]", headers)
                for name, value in headers.items():
                    if isinstance(value, str):
                        yield f"{path}.secret_headers.{name}", headers, name
