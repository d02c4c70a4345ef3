"""`cadenza up`: database, API and workers on this machine, until Ctrl-C."""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import aiohttp
import structlog
import typer
import uvloop
from rich.console import Console

from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.roots.client_file import NAME as CLIENT_FILE
from cadenza.roots.database import database_url, opened_database
from cadenza.roots.first_start import key_at_hand
from cadenza.roots.listening import address_of, check_can_listen
from cadenza.roots.logging import set_up_logs
from cadenza.roots.private_file import write_private
from cadenza.roots.secrets import secret_box
from cadenza.roots.settings import Settings, read_settings
from cadenza.roots.up.sample import sample_service
from cadenza.roots.up.supervisor import Part, Supervisor

OPEN_NETWORKS = "loopback,private"
SAMPLE_PORT = 8081
READY_SECONDS = 60.0
OPERATOR_FILE = "operator.key"
PARTS = ("scheduler", "planner")  # and the API
log = structlog.get_logger()


def register(app: typer.Typer) -> None:
    @app.command()
    def up(
        host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
        port: Annotated[int, typer.Option(min=1, max=65535, help="The port.")] = 8080,
    ) -> None:
        """Run everything on this machine: database, API, workers and a sample service.

        The data is in .cadenza (CADENZA_DATA_FOLDER). Ctrl-C ends it all; a second start goes on.

        Example: cadenza up --port 8090
        """
        settings = read_settings()
        set_up_logs(as_json=settings.log_json)
        check_can_listen("up", host, port)
        secret_box(settings, warn=log.warning)
        with (
            database_url(settings) as url,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_up(settings, url, host, port))

    del up  # registered by its decorator


async def _up(settings: Settings, url: str, host: str, port: int) -> None:
    address = address_of(host, port)
    async with opened_database(settings, url) as database:
        await migrate(database)
        await Maintenance(database, timedelta(days=settings.retention_days)).run_once()
        new_key = await key_at_hand(database, settings.data_folder, address)
    supervisor = Supervisor(
        [
            Part("api", ["api", "--host", host, "--port", str(port)]),
            *(Part(name, [name]) for name in PARTS),
        ],
        _environment(settings, url),
    )
    _stop_on_signals(supervisor)
    async with (
        sample_service(SAMPLE_PORT) as sample,
        _welcome(supervisor, settings, address, sample, new_key),
    ):
        await supervisor.run()


def _environment(settings: Settings, url: str) -> dict[str, str]:
    """What the parts are told: one database, one folder, and a guard that lets this machine in."""
    given = {
        "CADENZA_DATABASE_URL": url,
        "CADENZA_DATA_FOLDER": str(settings.data_folder.absolute()),
        "CADENZA_ALLOWED_NETWORKS": _networks(settings),
        "CADENZA_OPERATOR_KEY": _operator_key(settings),
        "CADENZA_EXPECTED_WORKERS": ",".join(PARTS),
    }
    return {**os.environ, **given}


def _networks(settings: Settings) -> str:
    return settings.allowed_networks or OPEN_NETWORKS


def _operator_key(settings: Settings) -> str:
    """The one that is set, or one of its own in a file that only its owner reads."""
    if settings.operator_key is not None:
        return settings.operator_key.get_secret_value()
    path = settings.data_folder / OPERATOR_FILE
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        key = secrets.token_urlsafe(32)
        write_private(path, key)
        return key


def _stop_on_signals(supervisor: Supervisor) -> None:
    def stop() -> None:
        if supervisor.stopping:
            supervisor.stop_now()
        else:
            log.info("stopping; once more stops at once")
            supervisor.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


# --- What is said when it is ready ------------------------------------------------------------


@asynccontextmanager
async def _welcome(
    supervisor: Supervisor, settings: Settings, address: str, sample: str, new_key: str | None
) -> AsyncGenerator[None]:
    async def tell() -> None:
        if await _ready(address, supervisor):
            _tell(settings, address, sample, new_key)

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()


async def _ready(address: str, supervisor: Supervisor) -> bool:
    async with aiohttp.ClientSession() as session:
        for _ in range(int(READY_SECONDS / 0.1)):
            if supervisor.stopping:
                return False
            try:
                async with session.get(f"{address}/readyz") as answer:
                    if answer.status == 200:
                        return True
            except (aiohttp.ClientError, OSError):
                pass
            await asyncio.sleep(0.1)
    log.error(f"not everything is ready after {READY_SECONDS:g} s; see {address}/readyz")
    return False


def _tell(settings: Settings, address: str, sample: str, new_key: str | None) -> None:
    out = Console(highlight=False, soft_wrap=True)
    command = _command()
    out.print(f"\n[bold]Cadenza is up[/] at {address}  (Ctrl-C ends it)\n")
    if new_key is not None:
        out.print(f"  Your admin key, shown this once:  [bold]{new_key}[/]")
        out.print(f"  The command line finds it in {settings.data_folder / CLIENT_FILE}\n")
    out.print(f"  Targets in these networks may be called: {_networks(settings)}")
    out.print(f"  A sample service answers with a queue depth: {sample}\n")
    out.print("Three lines to try, in another terminal:\n")
    for line in first_lines(command, sample):
        out.print(f"  {line}", markup=False)
    out.print("")


def first_lines(command: str, sample: str) -> tuple[str, str, str]:
    return (
        f'{command} jobs create shop --description "Watch the queue of orders"',
        f"{command} endpoints create shop/queue --url {sample} --every 5s",
        f"{command} tail --count 3",
    )


def _command() -> str:
    """As the person can type it here."""
    here = Path(sys.argv[0])
    if here.name != "cadenza" or not here.exists():
        return "cadenza"
    folders = os.environ.get("PATH", "").split(os.pathsep)
    if str(here.absolute().parent) in folders:
        return "cadenza"
    try:
        return str(here.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(here.absolute())
