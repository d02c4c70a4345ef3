"""A graph that leaves a mark when it is started: a witness of its own."""

import asyncio
from pathlib import Path
from typing import Any


async def marks(values: dict[str, Any], context: Any) -> dict[str, Any]:
    with Path(values["mark"]).open("a") as mark:  # noqa: ASYNC230 - nobody else waits
        mark.write(f"{values['endpoint']}:{context.slot_at}\n")
    await asyncio.sleep(values["takes"])
    return {"marked": True}
