"""A tenant that does everything at once that could stop others: `benchmarks.neighbours` starts it.

Hosts that hang, answers that are large, expressions that cost, huge bodies, wrong manifests, slow
sockets. It has one ordinary key, and a process of its own.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

import aiohttp
import uvloop
from aiohttp import web

HANGING, COSTLY, RULED = 150, 30, 10
SLOW_SOCKETS = 1100
SLOW_ADDRESS = "127.0.0.7"
LARGE = {"items": list(range(6000)), "text": "ab" * 10_000}
ENDLESS = "items.all(x, {0}.items.all(y, x == y || true)) && {1} > 0"
PATTERN = "items.all(x, string(x).matches('a{{ 900 }}{{ 7 }}') || {0} > 0)"
HUGE = b'{"jobs": [' + b"0," * 4_000_000 + b"0]}"
WRONG = json.dumps(
    {"jobs": [{"name": f"wrong {n}", "endpoints": [{}] * 300} for n in range(300)]}
).encode()
HALF = (
    b"",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    b"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{",
)
JSON = {"Content-Type": "application/json"}


async def serve_badly() -> str:
    async def hang(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def large(_: web.Request) -> web.Response:
        return web.json_response(LARGE)

    app = web.Application()
    app.router.add_get("/hang", hang)
    app.router.add_get("/large", large)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}"


def jobs(address: str) -> list[dict[str, object]]:
    every = {"every": "1s", "timeout": "20s"}
    hanging = [{"name": f"h{n}", "url": f"{address}/hang", **every} for n in range(HANGING)]
    costly = [
        {"name": f"c{n}", "url": f"{address}/large", **every, "success_when": _costly("body", n)}
        for n in range(COSTLY)
    ]
    watched = [{"name": f"r{n}", "url": f"{address}/large", **every} for n in range(RULED)]
    rules = [
        {"name": f"rule {n}", "when": _costly("response", n), "then": {"interval": "1s"}}
        for n in range(50)
    ]
    return [
        {"name": "hanging", "endpoints": hanging},
        {"name": "costly", "endpoints": costly},
        {"name": "ruled", "endpoints": watched, "rules": rules},
    ]


def _costly(name: str, number: int) -> str:
    text = PATTERN.format(number) if number % 3 == 0 else ENDLESS.format(name, number)
    return f"{name}.{text}"


async def main(port: int, token: str, seconds: float) -> None:
    address, headers = await serve_badly(), {"Authorization": f"Bearer {token}"}
    timeout = aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(
        f"http://127.0.0.1:{port}", headers=headers, timeout=timeout
    ) as client:
        async with client.put("/api/v1/manifest", json={"jobs": jobs(address)}) as answer:
            assert answer.status == 200, await answer.text()
        async with client.get("/api/v1/endpoints?name=c1") as answer:
            tested = (await answer.json())["items"][0]["id"]
        async with client.get("/api/v1/jobs?name=ruled") as answer:
            ruled = (await answer.json())["items"][0]["id"]

        async def huge() -> None:
            await client.put("/api/v1/manifest", data=HUGE, headers=JSON)

        async def wrong() -> None:
            await client.put("/api/v1/manifest", data=WRONG, headers=JSON)

        async def test() -> None:
            await client.post(f"/api/v1/endpoints/{tested}/test")

        number = count(100)

        async def new_rules() -> None:
            named = [{"name": f"{n}", "when": _costly("response", next(number))} for n in range(50)]
            rules = [{**rule, "then": {"clear": True}} for rule in named]
            await client.patch(f"/api/v1/jobs/{ruled}", json={"rules": rules})

        tasks = [asyncio.create_task(_again(each)) for each in (huge, wrong, test, test, new_rules)]
        tasks.append(asyncio.create_task(slow_sockets(port)))
        print("begun", flush=True)
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()


async def _again(nuisance: Callable[[], Awaitable[None]]) -> None:
    while True:
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            await nuisance()
        await asyncio.sleep(0.1)


async def slow_sockets(port: int) -> None:
    """Always so many of them: those that the server closes are opened again."""

    async def one(number: int) -> None:
        while True:
            with suppress(OSError):
                own = (SLOW_ADDRESS, 0)
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=own)
                writer.write(HALF[number % len(HALF)])
                await reader.read()
                writer.close()
            await asyncio.sleep(1)

    await asyncio.gather(*(one(number) for number in range(SLOW_SOCKETS)))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
