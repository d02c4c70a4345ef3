"""From documents to definitions."""

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from typing import Any, cast

from pydantic import ValidationError

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import Baseline, CronLine, Every, OnDemand
from cadenza.domain.errors import InvalidInput
from cadenza.domain.function_target import function_target
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.secret import is_secret_field
from cadenza.domain.target import DEFAULT_TIMEOUT, HttpTarget, Secret, ShellTarget, Target
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.field_types import Document
from cadenza.manifest.limits import read_limits
from cadenza.manifest.models import (
    EndpointDocument,
    JobDocument,
    JobFields,
    LimitsDocument,
    PlannerDocument,
    RuleDocument,
    ScheduleDocument,
    ThenDocument,
)
from cadenza.manifest.planner import read_planner
from cadenza.manifest.rules import read_rules

OF_HTTP = (
    "url", "method", "headers", "secret_headers", "body", "max_redirects", "success_statuses",
    "success_when", "await_result",
)  # fmt: skip
OF_SHELL = ("command", "folder")
OF_GRAPH = ("graph", "input", "limits", "grant", "account")
OF_FUNCTION = ("function",)
OF_QUEUE = (
    "queue", "topic", "exchange", "password", "headers", "body", "await_result", "reply_to",
)  # fmt: skip
TARGETS = {
    "url": OF_HTTP,
    "command": OF_SHELL,
    "graph": OF_GRAPH,
    "function": OF_FUNCTION,
    "queue": OF_QUEUE,
}
OF_BASELINE = ("every", "every_ms", "cron", "on_demand")
_DURATIONS = ("every", "min_interval", "max_interval", "timeout")
_HEADERS = ("headers", "secret_headers")
_MERGED = (*_HEADERS, "limits")  # field by field
Location = tuple[int | str, ...]  # as pydantic has it: ("jobs", 0, "endpoints", 2)
NO_SUCH_FIELD = "there is no such field"
_DOCUMENTS: Mapping[str, type[Document]] = {  # by the field that holds them
    "jobs": JobDocument,
    "endpoints": EndpointDocument,
    "rules": RuleDocument,
    "then": ThenDocument,
    "planner": PlannerDocument,
    "limits": LimitsDocument,
    "schedules": ScheduleDocument,
}
_FIXES = {
    "missing": "it is required",
    "extra_forbidden": NO_SUCH_FIELD,
    "string_type": "it must be text; put it in quotes",
    "int_type": "it must be a whole number, without quotes",
    "float_type": "it must be a number, without quotes",
    "float_parsing": "it must be a number",
    "finite_number": "it must be a number",
    "bool_type": "write true or false, without quotes",
    "list_type": "it must be a list",
    "dict_type": "it must be an object of names and values",
    "model_type": "it must be an object of names and values",
    "model_attributes_type": "it must be an object of names and values",
    "int_parsing": "it must be a whole number",
    "int_from_float": "it must be a whole number",
    "uuid_parsing": "it must be an id, like 01a1eee1-eedf-753b-814a-4275a630b228",
    "string_too_short": "must not be shorter than {min_length} characters",
    "string_too_long": "must not be longer than {max_length} characters",
    "greater_than_equal": "{ge} is the least",
    "less_than_equal": "{le} is the most",
    "enum": "expected {expected}",
    "literal_error": "expected {expected}",
}


def read_job_fields(document: JobFields) -> JobDefinition:
    """A job without its endpoints."""
    return JobDefinition(
        document.name,
        document.description,
        rules=read_rules(document.rules),
        planner=read_planner(document.planner),
    )


def read_endpoint(document: EndpointDocument) -> EndpointDefinition:
    """InvalidInput where fields contradict each other."""
    return EndpointDefinition(
        name=document.name,
        baseline=_baseline(document),
        target=_target(document),
        min_interval=_duration(document, "min_interval"),
        max_interval=_duration(document, "max_interval"),
        backs_off=document.backoff != "none",
    )


def contradictions_of(document: EndpointDocument) -> list[InvalidInput]:
    """All that `read_endpoint` would refuse, not only the first."""
    errors: list[InvalidInput] = []
    least, most = (partial(_duration, field=f"{end}_interval") for end in ("min", "max"))
    for read in (_baseline, _target, least, most):
        try:
            read(document)
        except InvalidInput as error:
            errors.append(error)
    return errors


def merged(present: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A document after a JSON merge patch; another baseline or target replaces the present one."""
    replaced: set[str] = set()
    if any(patch.get(field) for field in OF_BASELINE):
        replaced.update(OF_BASELINE, () if patch.get("cron") else ("timezone",))
    for field in _DURATIONS:
        if field in patch or f"{field}_ms" in patch:  # two names of the same thing
            replaced |= {field, f"{field}_ms"}
    for kind, fields in TARGETS.items():
        if patch.get(kind):
            others = [field for other in TARGETS.values() for field in other]
            own = () if present.get(kind) is None else fields
            replaced.update(field for field in others if field not in own)
            replaced.update(("timeout", "timeout_ms") if kind == "graph" else ())
    for field, other in (("grant", "account"), ("account", "grant")):
        if patch.get(field):  # who pays is said by one of them
            replaced.add(other)
    rest = {field: value for field, value in present.items() if field not in replaced}
    return _merge(rest, patch)


def _merge(present: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(present)
    for field, value in patch.items():
        if value is None:
            result.pop(field, None)
        elif isinstance(value, dict) and field in _MERGED:
            inner = cast("dict[str, Any]", value)
            result[field] = _merge(_other_headers(result.get(field) or {}, inner), inner)
        else:
            result[field] = value
    return result


def _other_headers(present: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Upper and lower case are the same in the name of a header."""
    patched = {name.lower() for name in patch}
    return {name: value for name, value in present.items() if name.lower() not in patched}


def errors_of(error: ValidationError, location: Location = ()) -> list[InvalidInput]:
    """Each field that is wrong, as a person wrote it, with the fix."""
    errors = error.errors(include_url=False)
    return field_errors({**line, "loc": (*location, *line["loc"])} for line in errors)


def field_errors(errors: Iterable[Any]) -> list[InvalidInput]:
    """The same from pydantic's list of errors."""
    by_field: dict[str, InvalidInput] = {}
    for error in errors:
        field = path_of(error["loc"])
        by_field.setdefault(field, InvalidInput(field, _value(error), _fix(field, error)))
    return list(by_field.values())


# --- Baseline -------------------------------------------------------------------------------


def _baseline(document: EndpointDocument) -> Baseline:
    every = _duration(document, "every")
    baselines = {"every": every, "cron": document.cron, "on_demand": document.on_demand or None}
    names = [name for name, value in baselines.items() if value is not None]
    if len(names) != 1:
        value = Unquoted(" and ".join(names) or "none of them")
        raise InvalidInput("every", value, "give exactly one of every, cron and on_demand: true")
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
    duration = written if written is not None else in_ms
    return None if duration is None else parse_duration(duration)


# --- Target ---------------------------------------------------------------------------------


def _target(document: EndpointDocument) -> Target:
    kinds = [kind for kind in TARGETS if getattr(document, kind) is not None]
    if len(kinds) != 1:
        value = Unquoted(" and ".join(kinds) or "none of them")
        fix = "give exactly one of url, queue, command, graph and function"
        raise InvalidInput("url", value, fix)
    _check_kind(document, kinds[0])
    if document.graph is not None:
        return _graph(document)
    timeout = _duration(document, "timeout")
    if document.function is not None:
        return function_target(document.function, timeout)
    timeout = timeout or DEFAULT_TIMEOUT
    if document.command is not None:
        return ShellTarget(tuple(document.command), document.folder, timeout)
    body, headers = _body(document)
    if document.queue is not None:
        return _queue(document, timeout, body, headers)
    assert document.url is not None
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
        awaits_result=document.await_result or False,
    )


def _queue(
    document: EndpointDocument, timeout: timedelta, body: str | None, headers: dict[str, str]
) -> QueueTarget:
    assert document.queue is not None
    if document.topic is None:
        raise InvalidInput("topic", Unquoted("nothing"), "name the stream, queue, subject or topic")
    return QueueTarget(
        url=document.queue,
        topic=document.topic,
        exchange=document.exchange or "",
        headers=headers,
        body=body,
        password=None if document.password is None else Secret(document.password),
        timeout=timeout,
        awaits_result=document.await_result or False,
        reply_to=document.reply_to,
    )


def _check_kind(document: EndpointDocument, kind: str) -> None:
    for field in (field for fields in TARGETS.values() for field in fields):
        value = getattr(document, field)
        if value is not None and field not in TARGETS[kind]:
            value = Secret("") if field in ("secret_headers", "password") else value
            raise InvalidInput(field, value, f"it does not go with a {kind}; leave it out")


def _graph(document: EndpointDocument) -> GraphTarget:
    assert document.graph is not None
    for field in ("timeout", "timeout_ms"):
        if (value := getattr(document, field)) is not None:
            raise InvalidInput(field, value, "for a graph it is limits.time")
    return GraphTarget(
        document.graph,
        document.input or {},
        read_limits(document.limits),
        document.grant,
        document.account,
    )


def _body(document: EndpointDocument) -> tuple[str | None, dict[str, str]]:
    """A body that is not text is sent as JSON, and says so."""
    headers = dict(document.headers or {})
    body = document.body
    if body is None or isinstance(body, str):
        return body, headers
    if not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False), headers
    except (RecursionError, ValueError) as error:  # NaN, or a number of thousands of digits
        fix = "it cannot be written as JSON: no NaN, no infinity, no endless number or nesting"
        raise InvalidInput("body", Unquoted("an object or a list"), fix) from error


# --- Errors ---------------------------------------------------------------------------------


def path_of(location: Location) -> str:
    """`endpoints[3].url`, without what pydantic adds for the branches of a union."""
    path = ""
    for before, part in zip((None, *location), location, strict=False):
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
        if part == "body" and before not in _HEADERS:
            break
    return path or "(the whole)"


def _value(error: Any) -> object:
    """What is wrong, but never a secret; an object or a list may hold one further down."""
    if is_secret_field(path_of(error["loc"])):
        return Secret("")
    if error["type"] == "missing":
        return Unquoted("nothing")
    if not error["loc"]:
        return Unquoted("what is there")  # perhaps another kind of file, and not ours to show
    value = error["input"]
    if isinstance(value, dict):
        return Unquoted("an object")
    return Unquoted("a list") if isinstance(value, list) else value


class Unquoted(str):
    """A description in place of the value: an error shows it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _fix(field: str, error: Any) -> str:
    is_body = field == "body" or field.endswith("].body")
    if is_body and error["type"] not in ("dict_type", "model_type", "model_attributes_type"):
        return "it must be text, a list or an object"
    message: str = error["msg"]
    fix, context = _FIXES.get(error["type"]), error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        return NO_SUCH_FIELD + _nearest(error["loc"])
    if error["type"] in ("too_short", "too_long") and isinstance(error.get("input"), str):
        fix = _FIXES[f"string_{error['type']}"]  # a text that had more than one way to be read
    if context.get("min_length") == 1 and isinstance(error.get("input"), str):
        return "must not be empty"
    return fix.format(**context) if fix else message.removeprefix("Value error, ")


def _nearest(location: Location) -> str:
    """The field of that document which was probably meant."""
    names = [part for part in location[:-1] if isinstance(part, str)]
    document = _DOCUMENTS.get(names[-1]) if names else None
    known = sorted(document.field_names()) if document is not None else []
    near = get_close_matches(str(location[-1])[:64], known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
