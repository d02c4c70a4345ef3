"""Ids that sort by the time they were made, so that new rows lie side by side in an index."""

import os
import time
from uuid import UUID


def new_marker() -> str:
    """A word that nobody can guess, which marks data in a prompt."""
    return os.urandom(8).hex()


def new_id() -> UUID:
    """A version 7 UUID (RFC 9562): milliseconds, then chance."""
    chance = int.from_bytes(os.urandom(10))
    value = (time.time_ns() // 1_000_000) << 80 | chance
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)
