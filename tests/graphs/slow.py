"""A graph that leaves the number of its process, and then takes its time."""

import asyncio
import os
from pathlib import Path
from typing import Any


async def slow(values: dict[str, Any]) -> dict[str, Any]:
    with Path(values["mark"]).open("a") as mark:  # noqa: ASYNC230 - nobody else waits
        mark.write(f"{os.getpid()}\n")
    await asyncio.sleep(600)
    return {}
