"""`cadenza secrets`, with its database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import typer

from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.application.secret_rotation import Secrets
from cadenza.cli import secrets as commands
from cadenza.roots.program import database_url, opened_database
from cadenza.roots.secret_box import master_keys
from cadenza.roots.settings import read_settings

T = TypeVar("T")


def _with_secrets(use: Callable[[Secrets], Awaitable[T]], warn: Callable[[str], None]) -> T:
    settings = read_settings()
    keys = master_keys(settings, warn)

    async def run(url: str) -> T:
        async with opened_database(settings, url) as database:
            await migrate(database)
            values = SealedValues(database, AesGcmBox(keys))
            add_key = keys.add_key if isinstance(keys, KeyFile) else None
            return await use(Secrets(values, keys, add_key))

    with database_url(settings, beside=True) as url:
        return asyncio.run(run(url))


cli = typer.Typer()
commands.register(cli, _with_secrets)
