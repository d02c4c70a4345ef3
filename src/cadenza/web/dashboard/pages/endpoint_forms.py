"""The form of an endpoint: its fields as a document of the manifest has them, and back."""

import json
from typing import Any

from cadenza.domain.definition import EndpointDefinition
from cadenza.domain.errors import InvalidInput
from cadenza.manifest.writing import endpoint_document
from cadenza.web.dashboard.forms import Form, gathered

FIELDS = (
    "name", "baseline", "every", "cron", "timezone", "min_interval", "max_interval", "url",
    "method", "headers", "secret_headers", "body", "timeout", "max_redirects", "success_statuses",
    "success_when", "command", "folder", "graph", "input", "account", "function",
    "backoff", "queue", "topic", "exchange", "password", "await_result", "reply_to",
)  # fmt: skip
_TEXTS = (
    "name", "url", "method", "timeout", "success_when", "folder", "graph", "account", "function",
    "backoff", "queue", "topic", "exchange", "password", "reply_to",
)  # fmt: skip


def schedule_document(form: Form) -> dict[str, Any]:
    """Of the kind of baseline that is chosen, whatever else is typed."""
    kind = form.text("baseline")
    document: dict[str, Any] = {
        "min_interval": form.optional("min_interval"),
        "max_interval": form.optional("max_interval"),
    }
    if kind == "every":
        document["every"] = form.text("every")
    elif kind == "cron":
        document |= {"cron": form.text("cron"), "timezone": form.optional("timezone")}
    else:
        document["on_demand"] = True
    return {name: value for name, value in document.items() if value is not None}


def document_of(form: Form) -> tuple[dict[str, Any], list[InvalidInput]]:
    """What was typed, and what of it cannot be read; the document has it as text, or not at all."""
    read, unread = gathered(
        {
            "headers": lambda: _headers("headers", form) or None,
            "secret_headers": lambda: _headers("secret_headers", form) or None,
            "max_redirects": lambda: _whole("max_redirects", form.optional("max_redirects")),
            "success_statuses": lambda: _statuses(form.text("success_statuses")) or None,
            "input": lambda: _object("input", form.optional("input")),
        }
    )
    document: dict[str, Any] = {name: form.optional(name) for name in _TEXTS}
    document |= {
        **read,
        "body": form.values.get("body") or None,
        "command": _lines(form.text("command")) or None,
        "await_result": True if form.text("await_result") else None,
    }
    present = {name: value for name, value in document.items() if value is not None}
    return {**present, **schedule_document(form)}, unread


def patch_of(wanted: dict[str, Any], present: EndpointDefinition) -> dict[str, Any]:
    """What the form says of every field that it has: what it leaves empty is taken away. What it
    does not have, like the graph of an endpoint, stays."""
    before = endpoint_document(present)
    gone = {name: None for name in before if name in (*FIELDS, "on_demand") and name not in wanted}
    for name in ("headers", "secret_headers"):
        left = wanted.get(name, {})
        present_headers: dict[str, str] = before.get(name) or {}
        gone_headers = {header: None for header in present_headers if header not in left}
        if left or gone_headers:
            wanted[name] = {**gone_headers, **left}
            gone.pop(name, None)
    return {**gone, **wanted}


def form_of(definition: EndpointDefinition, revision: int) -> Form:
    document = endpoint_document(definition)
    kind = next(name for name in ("every", "cron", "on_demand") if name in document)
    values = {
        name: str(document[name]) for name in document if isinstance(document[name], str | int)
    }
    for name in ("headers", "secret_headers"):
        headers: dict[str, str] = document.get(name) or {}
        values[name] = "\n".join(f"{header}: {value}" for header, value in headers.items())
    values["success_statuses"] = " ".join(map(str, document.get("success_statuses") or ()))
    values["await_result"] = "true" if document.get("await_result") else ""
    values["command"] = "\n".join(document.get("command") or ())
    if document.get("input"):
        values["input"] = json.dumps(document["input"], indent=2, ensure_ascii=False)
    return Form({**values, "baseline": kind, "revision": str(revision)})


# --- Fields of several lines ------------------------------------------------------------------


def _headers(name: str, form: Form) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in _lines(form.text(name)):
        header, colon, value = line.partition(":")
        if not colon or not header.strip():
            quoted = line if name == "headers" else "***"
            raise InvalidInput(name, quoted, "one header a line, like Accept: text/plain")
        headers[header.strip()] = value.strip()
    return headers


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _statuses(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    numbers = [_whole("success_statuses", word) for word in words]
    return [number for number in numbers if number is not None]


def _object(name: str, text: str | None) -> Any:
    """Of JSON; that it is an object is judged with the document."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            name, text[:200], f'JSON, like {{"topic": "autumn"}}: {error}'
        ) from error


def _whole(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 9:
        raise InvalidInput(name, text, "a whole number")
    return int(text)
