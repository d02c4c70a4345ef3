"""What lies between us and the database: a pooler, replicas, an address to listen at."""

from collections.abc import Iterator

from cadenza.adapters.postgres.database import Database, is_pooler, open_database, shown_url
from cadenza.adapters.postgres.hosts import single_urls
from cadenza.adapters.postgres.listener import HEAR_AGAIN, NOT_HEARD
from cadenza.adapters.postgres.queries import query
from cadenza.doctor.checks import Check, right
from cadenza.doctor.settings import Settings
from cadenza.domain.errors import CadenzaError

WHICH = "SELECT oid || ' ' || datname FROM pg_database WHERE datname = current_database()"
WAITING = "SELECT count(*) FROM pg_stat_replication"


async def check_connection(settings: Settings, database: Database, url: str) -> list[Check]:
    listen_url = settings.listen_database_url
    checks = [*_replicas(url, await database.fetchval(WAITING))]
    if listen_url is None:
        return [*checks, *_pooler(database.pooler)]
    return [*checks, await _listening(database, listen_url.get_secret_value())]


def _pooler(there: bool) -> Iterator[Check]:
    if there:
        yield Check("pooler", "warning", NOT_HEARD, HEAR_AGAIN)


async def _listening(database: Database, url: str) -> Check:
    what = f"programs listen at {shown_url(url)}"
    try:
        if await is_pooler(url):
            fix = "use the address of the server itself; notifications do not pass through a pooler"
            return Check("pooler", "error", f"{what}, which is a pooler", fix)
        same = await _leads_to(database, url)
    except (CadenzaError, OSError, ValueError) as error:
        return Check("pooler", "error", str(error), "correct CADENZA_LISTEN_DATABASE_URL")
    if not same:
        fix = "both settings must point to the same database"
        return Check("pooler", "error", f"{what}, which is another database", fix)
    return right("pooler", what)


async def _leads_to(database: Database, url: str) -> bool:
    other = await open_database(url, connections=2)
    try:
        same = await other.fetchval(WHICH) == await database.fetchval(WHICH)
        await other.fetchval(query("database_time"))
    finally:
        await other.close()
    return same


def _replicas(url: str, following: int) -> Iterator[Check]:
    """Only said where somebody has them, or names them."""
    named = len(single_urls(url))
    if named > 1:
        yield right("replicas", f"{named} servers configured, {following} replicating")
    elif following:
        yield right(
            "replicas",
            f"{following} replicating; list all servers in the URL, so that failover works",
        )
