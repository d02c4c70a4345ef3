"""From documents to definitions."""

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, cast

from pydantic import ValidationError

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import Baseline, CronLine, Every, OnDemand
from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import DEFAULT_TIMEOUT, HttpTarget, Secret, ShellTarget, Target
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.models import EndpointDocument, JobDocument

_OF_HTTP = (
    "url", "method", "headers", "secret_headers", "body", "max_redirects", "success_statuses",
    "success_when",
)  # fmt: skip
_OF_SHELL = ("command", "folder")
_OF_BASELINE = ("every", "every_ms", "cron", "on_demand")


def read_job(document: JobDocument) -> JobDefinition:
    endpoints = tuple(read_endpoint(each) for each in document.endpoints)
    return JobDefinition(document.name, document.description, endpoints)


def read_endpoint(document: EndpointDocument) -> EndpointDefinition:
    """InvalidInput where fields contradict each other."""
    return EndpointDefinition(
        name=document.name,
        baseline=_baseline(document),
        target=_target(document),
        min_interval=_duration(document, "min_interval"),
        max_interval=_duration(document, "max_interval"),
    )


def merged(present: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A document after a JSON merge patch; another baseline or target takes the old one's place."""
    kept = dict(present)
    if any(patch.get(field) for field in _OF_BASELINE):
        for field in _OF_BASELINE:
            kept.pop(field, None)
        if not patch.get("cron"):
            kept.pop("timezone", None)
    for field in ("every", "min_interval", "max_interval", "timeout"):
        if patch.get(f"{field}_ms") is not None:
            kept.pop(field, None)
    if patch.get("url"):
        kept = {field: value for field, value in kept.items() if field not in _OF_SHELL}
    if patch.get("command"):
        kept = {field: value for field, value in kept.items() if field not in _OF_HTTP}
    return _merge(kept, patch)


def _merge(present: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(present)
    for field, value in patch.items():
        if value is None:
            result.pop(field, None)
        elif isinstance(value, dict) and field in ("headers", "secret_headers"):
            result[field] = _merge(result.get(field) or {}, cast("dict[str, Any]", value))
        else:
            result[field] = value
    return result


def errors_of(error: ValidationError) -> list[InvalidInput]:
    """Each field that is wrong, as a person wrote it, with the fix."""
    return field_errors(error.errors(include_url=False, include_context=False))


def field_errors(errors: Iterable[Any]) -> list[InvalidInput]:
    """The same from pydantic's list of errors."""
    found: dict[str, InvalidInput] = {}
    for each in errors:
        field = _path(each["loc"])
        found.setdefault(field, InvalidInput(field, _shown(each), _fix(each["type"], each["msg"])))
    return list(found.values())


# --- Baseline -------------------------------------------------------------------------------


def _baseline(document: EndpointDocument) -> Baseline:
    every = _duration(document, "every")
    given = [
        name
        for name, value in (
            ("every", every),
            ("cron", document.cron),
            ("on_demand", document.on_demand or None),
        )
        if value is not None
    ]
    if len(given) != 1:
        shown = " and ".join(given) or "none of them"
        raise InvalidInput("every", shown, "give exactly one of every, cron and on_demand: true")
    if document.timezone is not None and document.cron is None:
        raise InvalidInput("timezone", document.timezone, "it belongs to a cron; leave it out")
    if every is not None:
        return Every(every)
    if document.cron is not None:
        return CronLine(document.cron, document.timezone or "UTC")
    return OnDemand()


def _duration(document: EndpointDocument, field: str) -> timedelta | None:
    written: int | str | None = getattr(document, field)
    in_ms: int | None = getattr(document, f"{field}_ms")
    if written is not None and in_ms is not None:
        raise InvalidInput(f"{field}_ms", in_ms, f"give {field} or {field}_ms, not both")
    given = written if written is not None else in_ms
    return None if given is None else parse_duration(given)


# --- Target ---------------------------------------------------------------------------------


def _target(document: EndpointDocument) -> Target:
    if (document.url is None) == (document.command is None):
        shown = "neither" if document.url is None else document.url
        raise InvalidInput("url", shown, "give a url, or a command; one of the two")
    foreign = _OF_SHELL if document.command is None else _OF_HTTP
    for field in foreign:
        if getattr(document, field) is not None:
            kind = "a url" if document.command is None else "a command"
            # Not what was given: it may be a secret.
            raise InvalidInput(field, "given", f"it does not go with {kind}; leave it out")
    timeout = _duration(document, "timeout") or DEFAULT_TIMEOUT
    if document.command is not None:
        return ShellTarget(tuple(document.command), document.folder, timeout)
    assert document.url is not None
    body, headers = _body(document)
    secrets = document.secret_headers or {}
    return HttpTarget(
        url=document.url,
        method=document.method or ("GET" if body is None else "POST"),
        headers=headers,
        secret_headers={name: Secret(value) for name, value in secrets.items()},
        body=body,
        timeout=timeout,
        max_redirects=document.max_redirects or 0,
        success_statuses=tuple(document.success_statuses or ()),
        success_when=document.success_when,
    )


def _body(document: EndpointDocument) -> tuple[str | None, dict[str, str]]:
    """A body that is not text is sent as JSON, and says so."""
    headers = dict(document.headers or {})
    body = document.body
    if body is None or isinstance(body, str):
        return body, headers
    if not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    return json.dumps(body, ensure_ascii=False), headers


# --- Errors ---------------------------------------------------------------------------------


def _path(places: tuple[int | str, ...]) -> str:
    """`endpoints[3].url`; what pydantic adds for the branches of a union is no place."""
    path = ""
    for place in places:
        if isinstance(place, int):
            path += f"[{place}]"
        elif not place.startswith(
            ("function-", "constrained-", "dict[", "list[")
        ) and place not in (
            "int",
            "str",
        ):
            path += f".{place}" if path else place
    return path or "(the whole)"


def _shown(error: Any) -> object:
    """What was given, but never a secret."""
    if any("secret" in str(place).lower() for place in error["loc"]):
        return Secret("")
    given = error["input"] if error["type"] != "missing" else "nothing"
    if isinstance(given, dict):  # it may hold a secret somewhere
        return "an object"
    return "a list" if isinstance(given, list) else given


def _fix(kind: str, message: str) -> str:
    if kind == "missing":
        return "it is required"
    if kind == "extra_forbidden":
        return "there is no such field"
    return message.removeprefix("Value error, ")
