"""The headers that routes read (If-Match, Idempotency-Key, Last-Event-ID) and answer with."""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.errors import InvalidInput
from cadenza.web.api.parsing.patterns import VISIBLE_ASCII

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


LastEventId = Annotated[
    str | None, Header(max_length=60, description="Where a stream that broke off had come to.")
]


@dataclass(frozen=True, slots=True)
class _Idempotency:
    """The record of a request that creates something, where the caller sent a key for it."""

    path: str
    response: Response
    key: str | None

    def record(self, body: BaseModel) -> IdempotencyRecord | None:
        if self.key is None:
            return None
        content: Any = {"to": self.path, "body": body.model_dump(mode="json")}
        digest = sha256(json.dumps(content, sort_keys=True).encode()).digest()
        return IdempotencyRecord(self.key, digest)

    def mark(self, replayed: bool) -> None:
        if replayed:
            self.response.headers["Idempotent-Replayed"] = "true"


async def _idempotency(
    request: Request,
    response: Response,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            pattern=VISIBLE_ASCII,
            description="The same key with the same body creates once, for a day.",
        ),
    ] = None,
) -> _Idempotency:
    return _Idempotency(request.url.path, response, idempotency_key)


Idempotency = Annotated[_Idempotency, Depends(_idempotency)]
