"""What the command line is given: environment, clock, local time, and where the server is."""

import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.ids import new_id
from cadenza.cli.outside import DEFAULT_URL, Outside, Server
from cadenza.roots.client_file import NAME as CLIENT_FILE
from cadenza.roots.client_file import find_client

if TYPE_CHECKING:
    from cadenza.manifest.checking import Checks

# Not by `Settings`: loading that takes longer than most commands, and a server's bad setting is
# no reason for a command not to work.
URL, KEY, OPERATOR_KEY = "CADENZA_API_URL", "CADENZA_API_KEY", "CADENZA_OPERATOR_KEY"
DATA_FOLDER, DEFAULT_FOLDER = "CADENZA_DATA_FOLDER", ".cadenza"
OPERATOR_FILE = "operator.key"


def outside() -> Outside:
    return Outside(
        environment=os.environ,
        now=wall_clock,
        local=_local,
        find_server=find_server,
        find_operator=find_operator,
        checks=_checks,
        new_id=new_id,
        sleep=time.sleep,
    )


def _local(instant: datetime) -> datetime:
    """By the rules of this machine's zone at that instant."""
    return instant.astimezone()


def _checks() -> "Checks":
    from cadenza.roots.files import checks  # noqa: PLC0415 - it loads cron and expressions

    return checks()


def find_server(url: str | None, key: str | None) -> Server:
    """What is given, else what is set, else what `up` left here or in a folder above."""
    wanted_url = _address(url or os.environ.get(URL))
    if key:
        return Server(wanted_url or _url_left_here(), key, "--key")
    if named := os.environ.get(KEY):
        return Server(wanted_url or _url_left_here(), named, KEY)
    left = find_client(Path.cwd(), _folder())
    # A key goes only to the server that it was made for.
    if left is None or wanted_url not in (None, _address(left.url)):
        return Server(wanted_url or DEFAULT_URL, None, KEY)
    return Server(_address(left.url) or DEFAULT_URL, left.key, f"{_folder()}/{CLIENT_FILE}")


def find_operator(url: str | None, key: str | None) -> Server:
    wanted_url = _address(url or os.environ.get(URL))
    if given := key or os.environ.get(OPERATOR_KEY):
        source = "--key" if key else OPERATOR_KEY
        return Server(wanted_url or _url_left_here(), given, source)
    left = None if wanted_url not in (None, _url_left_here()) else _operator_file()
    if left is None:
        return Server(wanted_url or _url_left_here(), None, OPERATOR_KEY)
    return Server(wanted_url or _url_left_here(), left.read_text().strip(), str(left))


def _operator_file() -> Path | None:
    here = Path.cwd()
    paths = (parent / _folder() / OPERATOR_FILE for parent in (here, *here.parents))
    return next((each for each in paths if os.access(each, os.R_OK)), None)


def _url_left_here() -> str:
    left = find_client(Path.cwd(), _folder())
    return (_address(left.url) if left else None) or DEFAULT_URL


def _folder() -> str:
    return os.environ.get(DATA_FOLDER) or DEFAULT_FOLDER


def _address(url: str | None) -> str | None:
    return url.rstrip("/") if url else None
