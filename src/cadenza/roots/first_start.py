"""The key with which an installation is used first, left where the command line looks for it."""

import secrets
import time
from pathlib import Path

from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.client_file import Client, read_client, write_client
from cadenza.adapters.system.ids import new_id
from cadenza.application.accounts import FirstStart, Keys, Tenants
from cadenza.application.authentication import Authentication
from cadenza.application.ports.secret_box import SecretBox


async def first_key(database: Database, box: SecretBox, data_folder: Path, url: str) -> str | None:
    """The new admin key where there was no tenant."""
    token = await _first_start(database, box).first_key()
    if token is not None:
        write_client(data_folder, Client(url, token))
    return token


async def key_at_hand(
    database: Database, box: SecretBox, data_folder: Path, url: str
) -> str | None:
    """As above; also where the file with the key was lost, for who owns the data may have one."""
    if (token := await first_key(database, box, data_folder, url)) is not None:
        return token
    client = read_client(data_folder)
    authentication = Authentication(PostgresAccounts(database), time.monotonic)
    if client is not None and await authentication.caller_of(client.key) is not None:
        if client.url != url:
            write_client(data_folder, Client(url, client.key))
        return None
    token = await _first_start(database, box).another_key()
    if token is not None:
        write_client(data_folder, Client(url, token))
    return token


def _first_start(database: Database, box: SecretBox) -> FirstStart:
    store = PostgresStore(database, box)
    # There are no keys in a cache to forget: nobody has asked for one yet.
    tenants = Tenants(store, new_id, lambda: None)
    keys = Keys(store, new_id, lambda: secrets.token_urlsafe(32), lambda: None)
    return FirstStart(tenants, keys, PostgresAccounts(database))
