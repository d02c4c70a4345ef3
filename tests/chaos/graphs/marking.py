"""A graph that leaves a mark when it is started, a witness of its own, and then asks a model."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

MODEL = "chaos"


async def marks(values: dict[str, Any], context: Any) -> dict[str, Any]:
    key = f"{values['endpoint']}:{context.slot_at}"
    with Path(values["mark"]).open("a") as mark:  # noqa: ASYNC230 - nobody else waits
        mark.write(f"{key}\n")
    answer = await asyncio.to_thread(_ask, key)
    await asyncio.sleep(values["takes"])
    return {"marked": True, "tokens": answer["usage"]["total_tokens"]}


def _ask(key: str) -> dict[str, Any]:
    """The provider learns which slot asks, and so is a witness of what may be charged."""
    address = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    body = {"model": MODEL, "messages": [{"role": "user", "content": key}]}
    headers = {
        "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}",
        "Content-Type": "application/json",
    }
    with urlopen(Request(address, json.dumps(body).encode(), headers), timeout=20) as answer:
        return json.load(answer)
