"""The headers that routes read (If-Match, Idempotency-Key, Last-Event-ID) and answer with."""

import json
import re
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.errors import InvalidInput

_TAGS = re.compile(
    r'\s*(?:W/)?"[\x21\x23-\x7e]{0,64}"(?:\s*,\s*(?:W/)?"[\x21\x23-\x7e]{0,64}")*\s*'
)
_TAG = re.compile(r'(W/)?"([^"]*)"')
_REVISION = re.compile(r"[1-9][0-9]{0,9}")  # a tag that is no revision of ours matches none


def tag(response: Response, revision: int) -> None:
    response.headers["ETag"] = f'"{revision}"'


async def _if_match(
    if_match: Annotated[
        str | None,
        Header(max_length=1000, description="The ETag you have read; 412 where it has changed."),
    ] = None,
) -> frozenset[int] | None:
    """The revisions that the caller has seen; None where they do not care."""
    if if_match is None or if_match.strip() == "*":
        return None
    if _TAGS.fullmatch(if_match) is None:
        raise InvalidInput("If-Match", if_match, 'write an ETag as it was given, like "3"')
    strong = [value for weak, value in _TAG.findall(if_match) if not weak]
    return frozenset(int(value) for value in strong if _REVISION.fullmatch(value))


IfMatch = Annotated[frozenset[int] | None, Depends(_if_match)]


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="idempotency-key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The same key with the same body creates once, for a day.",
    ),
]
LastEventId = Annotated[
    str | None, Header(max_length=60, description="Where a stream that broke off had come to.")
]


def idempotency_record(
    request: Request, key: str | None, body: BaseModel
) -> IdempotencyRecord | None:
    if key is None:
        return None
    content: Any = {"to": request.url.path, "body": body.model_dump(mode="json")}
    return IdempotencyRecord(key, sha256(json.dumps(content, sort_keys=True).encode()).digest())


def mark_replayed(response: Response, replayed: bool) -> None:
    if replayed:
        response.headers["Idempotent-Replayed"] = "true"
