"""`cadenza up`: database, API and workers on this machine, until Ctrl-C."""

import asyncio
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import structlog
import typer

from cadenza.adapters.http.addresses import OPEN_NETWORKS
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.system.client_file import (
    ADMIN_KEY_FILE,
    CLIENT_FILE,
    read_client,
    write_private,
)
from cadenza.adapters.system.listening import address_of, check_can_listen
from cadenza.adapters.system.worker_program import stop_on_signals
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.ports.secret_box import SecretBox
from cadenza.demo.model_provider import ModelProvider
from cadenza.roots.commands import COMMANDS
from cadenza.roots.first_start import key_at_hand
from cadenza.roots.observability import shown_programs, watched
from cadenza.roots.probing import probe_port_of, probed
from cadenza.roots.program import opened_database, run_program, set_up_logs
from cadenza.roots.secret_box import secret_box
from cadenza.roots.settings import Settings, read_settings
from cadenza.up.forked import Forked, can_fork, forked
from cadenza.up.sample_service import SamplePort, sample_service
from cadenza.up.supervisor import Program, Supervisor
from cadenza.up.welcome import MAY_FOLLOW, Welcome, path_line

WORKERS = ("scheduler", "planner", "graph-worker", "notifier")
MAIN = "cadenza.roots.main"
CADENZA = (sys.executable, "-m", MAIN)
log = structlog.get_logger()
cli = typer.Typer()


@cli.command()
def up(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8080,
    sample_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="The port of the sample service, remembered for later starts.",
            show_default="8081, or one that is free",
        ),
    ] = None,
    sample: Annotated[bool, typer.Option(help="Start the sample service.")] = True,
) -> None:
    """Run everything on this machine: database, API, workers and a sample service.

    The data is in .cadenza (CADENZA_DATA_FOLDER). Ctrl-C ends it all; a second start goes on.

    Example: cadenza up --port 8090
    """
    settings = read_settings()
    set_up_logs(as_json=settings.log_json)
    check_can_listen("up", host, port)
    box = secret_box(settings, warn=log.warning)
    ports = SamplePort(settings.data_folder)
    sample_at = ports.chosen(sample_port) if sample else None
    programs = _programs(settings, host, port)
    waiting = _forked(programs) if can_fork() else None
    supervised = partial(Supervisor, programs, CADENZA, waiting=waiting)
    address = address_of(host, port)
    run_program(settings, lambda url: _up(settings, box, url, address, sample_at, supervised))


def _programs(settings: Settings, host: str, port: int) -> Sequence[Program]:
    api = Program("api", ["api", "--host", host, "--port", str(port)])
    workers = [
        Program(name, [name], probe_port_of(settings, number), follows=name in MAY_FOLLOW)
        for number, name in enumerate(WORKERS, start=1)
    ]
    return [api, *workers]


def _forked(programs: Sequence[Program]) -> Mapping[str, Forked]:
    for name in WORKERS:
        _load(name)
    return forked(programs, _load, _become)


def _load(name: str) -> None:
    import_module(COMMANDS[name].module)


def _become(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """The command, as if it had been called."""
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["cadenza", *arguments]
    import_module(MAIN).main()


async def _up(
    settings: Settings,
    box: SecretBox,
    url: str,
    address: str,
    sample_port: int | None,
    supervised: Callable[..., Supervisor],
) -> None:
    async with opened_database(settings, url) as database:
        await migrate(database)
        await Maintenance(database, timedelta(days=settings.retention_days)).run_once()
        new_key = await key_at_hand(database, box, settings.data_folder, address)
    async with (
        watched(settings, "up", (Part.SUPERVISOR,), traced=False) as here,
        probed(settings, here, None),
        sample_service(sample_port, ModelProvider().app()) as sample,
    ):
        on_change = shown_programs(here.metrics, ["api", *WORKERS])
        supervisor = supervised(environment=_environment(settings, url), on_change=on_change)
        stop_on_signals(supervisor)
        welcome = Welcome(
            path_line(Path(sys.argv[0]), os.environ.get("PATH", "")),
            address,
            sample,
            _networks(settings),
            settings.data_folder / CLIENT_FILE,
            new_key,
            _key_of_client(settings),
        )
        showing = asyncio.create_task(welcome.show_when_ready(lambda: supervisor.stopping))
        showing.add_done_callback(lambda _: supervisor.let_follow())
        try:
            await supervisor.run()
        finally:
            showing.cancel()


def _key_of_client(settings: Settings) -> str:
    client = read_client(settings.data_folder)
    return client.key if client is not None else ""


def _environment(settings: Settings, url: str) -> dict[str, str]:
    """Of the programs: one database, one folder, and a guard that lets this machine in."""
    return {
        **os.environ,
        "CADENZA_DATABASE_URL": url,
        "CADENZA_DATA_FOLDER": str(settings.data_folder.absolute()),
        "CADENZA_ALLOWED_NETWORKS": _networks(settings),
        "CADENZA_ADMIN_KEY": _admin_key(settings),
        "CADENZA_EXPECTED_WORKERS": ",".join(WORKERS),
    }


def _networks(settings: Settings) -> str:
    return settings.allowed_networks or OPEN_NETWORKS


def _admin_key(settings: Settings) -> str:
    """The one that is set, or one of its own in a file that only its owner reads."""
    if settings.admin_key is not None:
        return settings.admin_key.get_secret_value()
    path = settings.data_folder / ADMIN_KEY_FILE
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        key = secrets.token_urlsafe(32)
        write_private(path, key)
        return key
