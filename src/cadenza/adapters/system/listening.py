"""Where a program listens: checked before anything else starts, with an error that says why not."""

import errno
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web

from cadenza.domain.errors import InstallationError

HOST = "127.0.0.1"


def address_of(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_free(host: str, port: int) -> bool:
    try:
        _bind(host, port)
    except OSError:
        return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def check_can_listen(command: str, host: str, port: int) -> None:
    try:
        _bind(host, port)
    except OSError as error:
        raise InstallationError(_reason(command, host, port, error)) from error


@asynccontextmanager
async def served_app(app: web.Application, port: int) -> AsyncGenerator[str]:
    """Its address on this machine; with port 0 on whatever port is free."""
    # Samples and demos: an answer that hangs on purpose must not hold up the end.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, HOST, port).start()
    try:
        bound: tuple[str, int] = runner.addresses[0]
        yield address_of(HOST, bound[1])
    finally:
        await runner.cleanup()


def _bind(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))


def _reason(command: str, host: str, port: int, error: OSError) -> str:
    where = address_of(host, port)
    if error.errno == errno.EADDRINUSE:
        other = port + 10 if port + 10 < 65536 else port - 10
        return (
            f"{where} is already in use. Cadenza may be running there already. "
            f"To use another port: cadenza {command} --port {other}"
        )
    if error.errno == errno.EACCES:
        return f"This user may not listen on {where}. Use a port above 1023, such as --port 8080."
    return (
        f"{host} is not an address of this machine ({error.strerror}). Use --host 127.0.0.1 for "
        "this machine only, or --host 0.0.0.0 for all networks."
    )
