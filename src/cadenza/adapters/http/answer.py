"""An answer's body: its first 64 KiB, decoded within bounds, as JSON or as text.

Whatever a target sends becomes something that can be stored: JSON that is not JSON to everybody
(NaN, numbers beyond a float, lone surrogates, hundreds of levels), or that is made to fill our
memory, stays text.
"""

import re
import zlib
from math import isfinite
from typing import Any, cast

from aiohttp import ClientResponse, StreamReader
from pydantic_core import from_json

from cadenza.domain.run import Body
from cadenza.domain.value import value

MAX_BODY = 64 * 1024
MAX_MEMORY = 768 * 1024  # of a body once it is parsed
MAX_COMPRESSED = 2 * MAX_BODY  # more than that for 64 KiB is an attack
ACCEPTED = "gzip, deflate"

_SMALL = 8 * 1024
_PLAIN = frozenset(("", "identity", "none", "utf-8"))  # the last two are common mistakes
_GZIP, _ZLIB, _RAW = 31, 15, -15  # as zlib counts its formats
_FORMATS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": _ZLIB}
_WESTERN = ("iso-8859-1", "iso-8859-15", "latin1", "latin-1", "windows-1252")
_LARGE_NUMBER = re.compile(r"[eE]\+?\d{3}|\d{200}")  # without one, every number is a float


class UnreadableAnswer(Exception):
    """The answer came, but is not what its headers say; the text says why."""


@value
class RawBody:
    raw: bytes = b""
    is_cut: bool = False
    content_type: str = ""

    def parsed(self) -> Body:
        """JSON where it is JSON, text where it is not."""
        if not self.raw:
            return None
        text = _text(self.raw, self.is_cut, self.content_type)
        return _without_nul(text) if self.is_cut else _parsed(text)


async def read_body(response: ClientResponse) -> RawBody:
    """At most 64 KiB; the rest is never read."""
    wanted = _format_of(response)
    if wanted is None:
        raw, is_cut = await _read(response.content, MAX_BODY)
    else:
        raw, is_cut = await _read_compressed(response.content, wanted)
    return RawBody(raw, is_cut, response.headers.get("Content-Type", ""))


def _format_of(response: ClientResponse) -> int | None:
    """How the body is compressed; only what we asked for, and only once."""
    headers = ",".join(response.headers.getall("Content-Encoding", ())).lower()
    names = [name for word in headers.split(",") if (name := word.strip()) not in _PLAIN]
    if not names:
        return None
    if len(names) > 1:
        raise UnreadableAnswer(f"the answer is encoded {len(names)} times over; once is the most")
    if names[0] not in _FORMATS:
        name = names[0][:40].encode("ascii", "replace").decode()
        raise UnreadableAnswer(f"the answer is encoded as {name!r}, which was not asked for")
    return _FORMATS[names[0]]


async def _read(content: StreamReader, limit: int) -> tuple[bytes, bool]:
    """The first bytes, and whether there were more."""
    raw = await content.readany()
    if content.at_eof() and len(raw) <= limit:
        return raw, False  # nearly every answer
    parts, size = [raw], len(raw)
    while size <= limit and (raw := await content.readany()):
        parts.append(raw)
        size += len(raw)
    return b"".join(parts)[:limit], size > limit


async def _read_compressed(content: StreamReader, wanted: int) -> tuple[bytes, bool]:
    """Decompressed as it arrives: never more than the limit, however much is packed into it."""
    inflater, parts, size, taken = None, list[bytes](), 0, 0
    while size <= MAX_BODY and (raw := await content.readany()):
        taken += len(raw)
        if taken > MAX_COMPRESSED:
            raise UnreadableAnswer("the answer is larger compressed than it may be unpacked")
        if inflater is not None and inflater.eof:
            continue  # what follows the end is ignored
        if inflater is None:
            inflater = zlib.decompressobj(_RAW if wanted == _ZLIB and _lacks_head(raw) else wanted)
        try:
            part = inflater.decompress(raw, MAX_BODY + 1 - size)
        except zlib.error as error:
            raise UnreadableAnswer("the answer cannot be decompressed") from error
        parts.append(part)
        size += len(part)
    if inflater is not None and not inflater.eof and size <= MAX_BODY:
        raise UnreadableAnswer("the compressed answer ends too early")
    return b"".join(parts)[:MAX_BODY], size > MAX_BODY


def _lacks_head(raw: bytes) -> bool:
    """Some servers send bare deflate under that name; a zlib head is a multiple of 31."""
    return raw[0] & 0x0F != 8 or (len(raw) > 1 and (raw[0] << 8 | raw[1]) % 31 != 0)


def _text(raw: bytes, is_cut: bool, content_type: str) -> str:
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        if is_cut and error.start > len(raw) - 4 and error.reason == "unexpected end of data":
            return raw[: error.start].decode()  # the cut went through a character
    charset = content_type.lower().partition("charset=")[2].strip(" \"'")
    encoding = "cp1252" if charset.startswith(_WESTERN) else "utf-8"
    return raw.decode(encoding, "replace")


def _parsed(text: str) -> Body:
    if len(text) > _SMALL and _memory(text) > MAX_MEMORY:
        return _without_nul(text)
    try:
        value: Any = from_json(text, allow_inf_nan=False)
    except ValueError:
        return _without_nul(text)
    if _LARGE_NUMBER.search(text) and not _is_finite(value):
        return text
    return _without_nul(value) if "\\u0000" in text else value


def _memory(text: str) -> int:
    """Roughly its bytes as Python's values: `[],[],[]` takes thirty times its own length, and
    hundreds of answers may wait to be stored."""
    return (
        200 * text.count("{") + 64 * text.count("[") + 32 * text.count(",") + 25 * text.count('"')
    )


def _is_finite(value: Any) -> bool:
    """A number such as 1e999 is JSON, but no float. The parser allows 200 levels: no overflow."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, cast("dict[str, Any]", value).values()))
    if isinstance(value, list):
        return all(map(_is_finite, cast("list[Any]", value)))
    return True


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {_without_nul(key): _without_nul(inner) for key, inner in pairs}
    if isinstance(value, list):
        return list(map(_without_nul, cast("list[Any]", value)))
    return value
