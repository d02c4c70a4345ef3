"""Runs matched to target windows, in the manner of Jepsen's test of Chronos.

A window opens at its slot and closes after the longest that a run may be late. The sweep goes
through deliveries by time and gives each to the open window that closes first: no other way matches
more. It is done once ignoring keys, and once by key; keys that lie match less than time allows.
"""

import heapq
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from tests.chaos.history import Delivery, key_of

Windows = Sequence[tuple[datetime, datetime]]


def swept(windows: Windows, times: Iterable[datetime]) -> int:
    """The most windows that deliveries at these times can fill."""
    opening = sorted(windows)
    open_until: list[datetime] = []
    following = matched = 0
    for at in sorted(times):
        while following < len(opening) and opening[following][0] <= at:
            heapq.heappush(open_until, opening[following][1])
            following += 1
        while open_until and open_until[0] < at:
            heapq.heappop(open_until)
        if open_until:
            heapq.heappop(open_until)
            matched += 1
    return matched


def matched_by_key(endpoint_id: UUID, windows: Windows, deliveries: Iterable[Delivery]) -> int:
    first: dict[str, datetime] = {}
    for delivery in deliveries:
        first.setdefault(delivery.key, delivery.began_at)
    matched = 0
    for opens_at, closes_at in windows:
        began_at = first.get(key_of(endpoint_id, opens_at))
        matched += began_at is not None and opens_at <= began_at <= closes_at
    return matched


def windows_of(slots: Iterable[datetime], longest: timedelta) -> Windows:
    return [(slot_at, slot_at + longest) for slot_at in slots]
