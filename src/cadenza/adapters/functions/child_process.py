"""A function in a child process of its own, which can be killed at any time.

The child loads the module anew. It gets its run on its input, which stays open: where that ends,
the parent is gone, and the child ends itself and all that it started.
"""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict

from cadenza.adapters.functions.registered import RegisteredFunction, location_of
from cadenza.adapters.functions.run import Run
from cadenza.domain.instants import iso
from cadenza.domain.run import Outcome, RunStatus

CHILD = (sys.executable, "-c", "from cadenza.adapters.functions.child import main; main()")
MAX_ANSWER = 1024 * 1024  # bytes; what the child keeps of a body is far less


async def call_in_child(function: RegisteredFunction, run: Run) -> Outcome:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *CHILD, stdin=pipe, stdout=pipe, start_new_session=True
    )
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(ConnectionError):  # it died at once: its end says so
            child.stdin.write(_order(function, run))
            await child.stdin.drain()
        answer = await child.stdout.read(MAX_ANSWER)
        while more := await child.stdout.read(MAX_ANSWER):
            answer += more
        await child.wait()
        return _outcome(answer, child.returncode)
    finally:
        # The whole group, also after a good end: what the function started is not left behind.
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await asyncio.shield(child.wait())


def _order(function: RegisteredFunction, run: Run) -> bytes:
    order = {
        "location": asdict(location_of(function)),
        "takes_run": function.takes_run,
        "path": sys.path,
        "run": {
            "id": run.id,
            "slot_at": iso(run.slot_at),
            "attempt": run.attempt,
            "idempotency_key": run.idempotency_key,
            "deadline_at": iso(run.deadline_at),
            "source": run.source,
            "traceparent": run.traceparent,
        },
    }
    return json.dumps(order).encode() + b"\n"


def _outcome(answer: bytes, code: int | None) -> Outcome:
    try:
        result = json.loads(answer)
    except ValueError:
        why = "was killed by signal" if code is not None and code < 0 else "ended with code"
        what = "what it returned cannot be read" if answer else "returned nothing"
        message = f"its process {why} {abs(code or 0)} and {what}"
        return Outcome(RunStatus.FAILURE, "process_ended", message)
    return Outcome(
        RunStatus(result["status"]), result["kind"], result["message"], body=result["body"]
    )
