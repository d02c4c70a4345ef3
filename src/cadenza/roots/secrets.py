"""The master keys and the box that they open; `cadenza secrets`, with its database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import typer

from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.adapters.secrets.keys import ConfiguredKeys
from cadenza.application.secret_rotation import Secrets
from cadenza.cli import secrets as commands
from cadenza.roots.program import database_url, opened_database
from cadenza.roots.settings import Settings, read_settings

KEY_FILE = "master.key"
T = TypeVar("T")


def secret_box(settings: Settings, warn: Callable[[str], None]) -> AesGcmBox:
    return AesGcmBox(_master_keys(settings, warn))


def _master_keys(settings: Settings, warn: Callable[[str], None]) -> ConfiguredKeys | KeyFile:
    """From the setting; where it is not set from a file, which is made at the first start."""
    if settings.master_key is not None:
        return ConfiguredKeys(settings.master_key.get_secret_value())
    return KeyFile(settings.data_folder / KEY_FILE, warn)


def _with_secrets(use: Callable[[Secrets], Awaitable[T]], warn: Callable[[str], None]) -> T:
    settings = read_settings()
    keys = _master_keys(settings, warn)

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
