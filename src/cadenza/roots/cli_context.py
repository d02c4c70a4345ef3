"""What the command line is given: environment, clock, local time, and where the server is."""

import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cadenza.adapters.system.client_file import ADMIN_KEY_FILE, CLIENT_FILE, find_client
from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.ids import new_id
from cadenza.cli.context import DEFAULT_URL, CliContext, Server

if TYPE_CHECKING:
    from cadenza.manifest.checking import Checks

# Not by `Settings`: loading that takes longer than most commands, and a server's bad setting is
# no reason for a command not to work.
URL, KEY = "CADENZA_API_URL", "CADENZA_API_KEY"
ADMIN_KEYS = ("CADENZA_ADMIN_KEY", "CADENZA_OPERATOR_KEY")  # the second is its older name
DATA_FOLDER, DEFAULT_FOLDER = "CADENZA_DATA_FOLDER", ".cadenza"


def cli_context() -> CliContext:
    return CliContext(
        environment=os.environ,
        now=wall_clock,
        local=datetime.astimezone,  # by the rules of this machine's zone at that instant
        find_server=find_server,
        find_admin=find_admin,
        checks=_checks,
        new_id=new_id,
        sleep=time.sleep,
    )


def _checks() -> "Checks":
    from cadenza.roots.validation_policy import checks  # noqa: PLC0415 - it loads cron and expressions

    return checks()


def find_server(url: str | None, key: str | None) -> Server:
    """By the options, else by the environment, else by what `up` left here or in a folder above."""
    wanted_url = _address(url or os.environ.get(URL))
    for source, value in (("--key", key), (KEY, os.environ.get(KEY))):
        if value:
            return Server(wanted_url or _url_left_here(), value, source)
    left = find_client(Path.cwd(), _folder())
    # A key goes only to the server that it was made for.
    if left is None or wanted_url not in (None, _address(left.url)):
        return Server(wanted_url or DEFAULT_URL, None, KEY)
    return Server(_address(left.url) or DEFAULT_URL, left.key, f"{_folder()}/{CLIENT_FILE}")


def find_admin(url: str | None, key: str | None) -> Server:
    """The same with the key of the installation's admin."""
    wanted_url = _address(url or os.environ.get(URL))
    for source, value in (("--key", key), *((name, os.environ.get(name)) for name in ADMIN_KEYS)):
        if value:
            return Server(wanted_url or _url_left_here(), value, source)
    left_here = _url_left_here()
    file = _admin_key_file() if wanted_url in (None, left_here) else None
    if file is None:
        return Server(wanted_url or left_here, None, ADMIN_KEYS[0])
    return Server(left_here, file.read_text().strip(), str(file))


def _admin_key_file() -> Path | None:
    here = Path.cwd()
    paths = (parent / _folder() / ADMIN_KEY_FILE for parent in (here, *here.parents))
    return next((path for path in paths if os.access(path, os.R_OK)), None)


def _url_left_here() -> str:
    left = find_client(Path.cwd(), _folder())
    return (_address(left.url) if left else None) or DEFAULT_URL


def _folder() -> str:
    return os.environ.get(DATA_FOLDER) or DEFAULT_FOLDER


def _address(url: str | None) -> str | None:
    return url.rstrip("/") if url else None
