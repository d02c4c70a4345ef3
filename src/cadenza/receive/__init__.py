"""The other end of a call: prove that it is Cadenza's, and do each slot once.

    receiver = Receiver("whsec_…")
    call = receiver.verify(headers, body)        # Rejected where it is not genuine
    call.slot_at, call.attempt, call.key

Of a message: `receiver.verify_message(headers, body)`; `report_result(call, api, body)` says how
it went. With frameworks: `cadenza.receive.fastapi`, `.starlette`, `.asgi` and `.wsgi`.
"""

from cadenza.receive.once import MemoryCalls, PostgresCalls, SqliteCalls, once, once_sync
from cadenza.receive.reporting import (
    NotReported,
    reply_headers,
    report_result,
    report_result_async,
)
from cadenza.receive.verifying import Call, Receiver, Rejected

__all__ = [
    "Call",
    "MemoryCalls",
    "NotReported",
    "PostgresCalls",
    "Receiver",
    "Rejected",
    "SqliteCalls",
    "once",
    "once_sync",
    "reply_headers",
    "report_result",
    "report_result_async",
]
