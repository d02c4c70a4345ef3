"""A real `cadenza api`, and the reads that are asked of it."""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from benchmarks.stage import Stage, until

WARM_UP_SECONDS = 5


@asynccontextmanager
async def serving(
    here: Stage, program: str = "cadenza.roots.main"
) -> AsyncGenerator[tuple[aiohttp.ClientSession, int, int]]:
    """A real `cadenza api`: a client of it, its port and its process id."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "CADENZA_DATABASE_URL": here.url,
        "CADENZA_ALLOWED_NETWORKS": "loopback",  # for test calls
        "CADENZA_MASTER_KEY": "0796834ae778ad5495ef50031f6730d038f9df25066e2c0cd9c65732b154a6d1",
    }
    command = [sys.executable, "-m", program, "api", "--port", str(port)]
    # Started once, before anything is measured.
    api = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
    base = aiohttp.TCPConnector(limit=100)
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", connector=base) as client:

            async def ready() -> bool:
                try:
                    async with client.get("/readyz") as answer:
                        return answer.status == 200
                except aiohttp.ClientError:
                    return False

            assert await until(ready, within=60), "the api did not start"
            yield client, port, api.pid
    finally:
        api.terminate()
        api.wait(timeout=30)


def read_path(tenant: dict[str, Any], number: int) -> str:
    """The path of a read; the common ones more often than the others."""
    endpoint = f"/endpoints/{tenant['endpoint_id']}"
    paths = (
        *("/runs", "/runs?limit=20", "/runs?status=failure"),
        *(f"/runs?endpoint_id={tenant['endpoint_id']}", f"/runs?job_id={tenant['id']}"),
        *(endpoint, endpoint, f"{endpoint}/explain", f"{endpoint}/preview", f"{endpoint}/health"),
        *("/endpoints", "/jobs", f"/jobs/{tenant['id']}", "/sessions", "/audit"),
        *(f"/jobs/{tenant['id']}/timeline", "/tenant", "/tenant/quota", "/tenant/usage"),
        f"/runs/{tenant['run_id']}",
    )
    return paths[number % len(paths)]


async def add_run_ids(here: Stage, tenants: list[dict[str, Any]]) -> None:
    for tenant in tenants:
        tenant["run_id"] = await here.value(
            "SELECT id FROM runs WHERE tenant_id = $1 ORDER BY slot_at DESC LIMIT 1", tenant["id"]
        )
