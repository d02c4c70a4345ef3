"""The other end of a call: prove that it is Cadenza's, and do each slot once.

    receiver = Receiver("whsec_…")
    call = receiver.verify(headers, body)        # Rejected where it is not genuine
    call.slot_at, call.attempt, call.key

With frameworks: `cadenza.receive.fastapi`, `.starlette`, `.asgi` and `.wsgi`.
"""

from cadenza.receive.once import MemoryCalls, PostgresCalls, SqliteCalls, once, once_sync
from cadenza.receive.verifying import Call, Receiver, Rejected

__all__ = [
    "Call",
    "MemoryCalls",
    "PostgresCalls",
    "Receiver",
    "Rejected",
    "SqliteCalls",
    "once",
    "once_sync",
]
