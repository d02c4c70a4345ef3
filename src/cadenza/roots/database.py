"""Which database a program works on: the one that is set, or an embedded one of its own."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.roots.settings import Settings


@contextmanager
def database_url(settings: Settings) -> Generator[str]:
    """Its address; an embedded server ends with the block."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    with EmbeddedPostgres(settings.data_folder / "postgres") as url:
        yield url


@asynccontextmanager
async def opened_database(settings: Settings, url: str) -> AsyncGenerator[Database]:
    database = await open_database(
        url, connections=settings.connections, pooler=settings.database_pooler
    )
    try:
        yield database
    finally:
        await database.close()
