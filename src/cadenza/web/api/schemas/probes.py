"""Whether the process lives and can work, as it is sent."""

from typing import Literal

from cadenza.web.api.schemas.base import ResponseSchema


class AliveResponse(ResponseSchema):
    alive: Literal[True] = True


class ReadyResponse(ResponseSchema):
    ready: bool
    parts: dict[str, str]
