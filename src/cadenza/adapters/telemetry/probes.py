"""Where a worker can be asked whether it lives, whether it works, and what it has counted."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hmac import compare_digest

from aiohttp import web

from cadenza.domain.errors import InstallationError

OK = "ok"
STANDS_STILL = "it stands still"
NOT_ADMITTED = "this needs CADENZA_METRICS_TOKEN as `Authorization: Bearer …`\n"
NOT_INSTALLED = "metrics need prometheus-client: pip install 'cadenza[server]'\n"
SWITCHED_OFF = "metrics are switched off: CADENZA_METRICS=false\n"
# What a reader accepts, to a page and its type.
Page = Callable[[str], Awaitable[tuple[bytes, str]]]


@dataclass(frozen=True, slots=True)
class Probes:
    check: Callable[[], Awaitable[Mapping[str, str]]]  # each part: "ok", or what is wrong
    page: Page | None  # None where nothing is counted
    why_no_page: str = NOT_INSTALLED
    token: str | None = None
    is_moving: Callable[[], bool] = lambda: True  # else it is to be ended, and started again

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1024)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _healthz(self, request: web.Request) -> web.Response:
        """Whatever the database does: a worker that waits for it must not be ended for that."""
        del request
        if self.is_moving():
            return web.json_response({"status": OK})
        return web.json_response({"status": STANDS_STILL}, status=503)

    async def _readyz(self, request: web.Request) -> web.Response:
        del request
        parts = dict(await self.check())
        ready = all(result == OK for result in parts.values())
        return web.json_response({"ready": ready, "parts": parts}, status=200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.Response:
        if self.token is not None and not is_token(request.headers, self.token):
            challenge = {"WWW-Authenticate": 'Bearer realm="cadenza"'}
            return web.Response(status=401, text=NOT_ADMITTED, headers=challenge)
        if self.page is None:
            return web.Response(status=501, text=self.why_no_page)
        body, media_type = await self.page(request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": media_type})


def is_token(headers: Mapping[str, str], token: str) -> bool:
    scheme, _, sent = headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and compare_digest(sent.strip().encode(), token.encode())


@asynccontextmanager
async def served_probes(probes: Probes, host: str, port: int) -> AsyncGenerator[int]:
    """The port that it listens on; InstallationError where it cannot."""
    runner = web.AppRunner(probes.app(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise InstallationError(
                f"Probes cannot be served on {host} port {port}: {error.strerror or error}. Each "
                "program needs a port of its own: set another CADENZA_PROBE_PORT."
            ) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
