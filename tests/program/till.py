"""A program as somebody writes it: tills that are counted every second, each count noted."""

import asyncio
import os
from pathlib import Path

from cadenza import Cadenza, current_run

app = Cadenza(threads=8)
NOTES = Path(os.environ.get("CADENZA_TEST_NOTES", os.devnull))
TILLS = 12


def note() -> None:
    run = current_run()
    with NOTES.open("a") as notes:
        notes.write(f"{run.idempotency_key} {run.attempt} {os.getpid()}\n")


for number in range(TILLS):

    @app.every("1s", name=f"till_{number}")
    async def count() -> int:
        note()
        await asyncio.sleep(0.4)
        return os.getpid()


if __name__ == "__main__":
    app.run()
