"""The words between worker, fork server and child.

Worker and fork server exchange small datagrams; worker and child a stream of frames: four bytes of
length, then JSON. What a child sends is bounded, and never trusted.
"""

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, NoReturn, cast

HEADER = struct.Struct(">I")
MAX_FRAME = 4 * 1024 * 1024  # holds a kept state in base64 beside a question
MAX_EVENT = 256 * 1024
MAX_OUTPUT = 1024 * 1024
MAX_STATE = 1024 * 1024
MAX_EVENTS = 100_000
MAX_DATAGRAM = 64 * 1024

Message = dict[str, Any]


class Rubbish(Exception):
    """Not a frame of ours."""


def encode(message: Mapping[str, Any]) -> bytes:
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def decode(raw: bytes) -> Message:
    try:
        message: object = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Rubbish(f"not JSON: {str(error)[:200]}") from error
    if not isinstance(message, dict):
        raise Rubbish("not an object")
    # Escapes are rare, and only they can hide what no database takes.
    return cast(Message, _storable(message) if b"\\u" in raw else message)


def frame(message: Mapping[str, Any]) -> bytes:
    raw = encode(message)
    return HEADER.pack(len(raw)) + raw


def frame_length(header: bytes) -> int:
    (length,) = HEADER.unpack(header)
    if length > MAX_FRAME:
        raise Rubbish(f"a message of {length} bytes; at most {MAX_FRAME}")
    return length


def receive_frame(channel: socket.socket) -> Message | None:
    """Waits; None at the end of the stream."""
    header = _exactly(channel, HEADER.size)
    raw = None if header is None else _exactly(channel, frame_length(header))
    return None if raw is None else decode(raw)


def _exactly(channel: socket.socket, length: int) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        more = channel.recv(min(length - len(data), 1 << 16))
        if not more:
            return None
        data += more
    return bytes(data)


def _storable(value: Any) -> Any:
    """Without NUL and lone surrogates, which PostgreSQL refuses in JSON."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).items()
        return {_storable(key): _storable(item) for key, item in items}
    if isinstance(value, list):
        return [_storable(item) for item in cast(list[Any], value)]
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
