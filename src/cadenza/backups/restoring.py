"""A backup that becomes a database: beside the old one, until it is whole."""

import asyncio
from importlib.metadata import version
from zipfile import ZipFile

from cadenza.adapters.postgres.backup.file import DUMP, About
from cadenza.adapters.postgres.backup.target import (
    Target,
    database_of,
    drop,
    drop_unfinished,
    look_at,
    make_beside,
    swap,
    url_with,
)
from cadenza.adapters.postgres.backup.tools import restore as run_restore
from cadenza.adapters.postgres.backup.tools import tools_for
from cadenza.adapters.postgres.migrate import migrate, migrations, unknown_migrations
from cadenza.adapters.system.clock import wall_clock
from cadenza.backups.installation import Installation
from cadenza.cli.progress import TableProgress
from cadenza.domain.errors import InstallationError
from cadenza.domain.instants import stamp


def check_version(about: About) -> None:
    if newer := unknown_migrations(about.migrations):
        raise InstallationError(
            f"The backup was made by Cadenza {about.cadenza}, whose schema is newer than that of "
            f"this one ({version('cadenza')}; migration {max(newer):04} is not known here). "
            "Install that version or a later one, and restore again."
        )
    ours = {migration.number: migration.digest for migration in migrations()}
    if any(ours[number] != digest for number, digest in about.migrations.items()):
        raise InstallationError(
            "The backup has another schema under the same numbers: it is of another Cadenza."
        )


class Plan:
    def __init__(self, url: str, target: Target) -> None:
        self.url = url
        self.target = target
        self.name = database_of(url)
        at = stamp(wall_clock())
        self.unfinished = f"{self.name[:30]}_restored_"  # how the names of those begin
        self.fresh = f"{self.unfinished}{at}"
        self.kept_as = f"{self.name[:30]}_before_{at}"


async def planned(installation: Installation, url: str, about: About) -> Plan:
    address = await installation.session_url(url)
    plan = Plan(address, await look_at(address))
    if plan.target.programs:
        raise InstallationError(
            f"Programs of Cadenza are connected to the database {plan.name} "
            f"({plan.target.programs} connections). Stop them first, `cadenza up` too."
        )
    if plan.target.major < about.postgres:
        raise InstallationError(
            f"The backup is of PostgreSQL {about.postgres}, the server here is "
            f"{plan.target.major}: restore it into the same version or a later one."
        )
    tools_for(plan.target.major, about.tools)
    return plan


class Restoring:
    def __init__(
        self, plan: Plan, archive: ZipFile, about: About, *, drop_old: bool, show: bool
    ) -> None:
        self._plan, self._archive, self._about = plan, archive, about
        self._drop_old, self._show = drop_old, show

    async def run(self, installation: Installation) -> None:
        plan = self._plan
        if not plan.target.tables:
            await self._into(installation, plan.url)
            return
        await drop_unfinished(plan.url, plan.unfinished)
        await make_beside(plan.url, plan.fresh)
        try:
            await self._into(installation, url_with(plan.url, plan.fresh))
            await swap(plan.url, plan.fresh, plan.kept_as)
        except BaseException:
            await drop(plan.url, plan.fresh)
            raise
        if self._drop_old:
            await drop(plan.url, plan.kept_as)

    async def _into(self, installation: Installation, url: str) -> None:
        tools = tools_for(self._plan.target.major, self._about.tools)
        with TableProgress("table", show=self._show) as progress, self._archive.open(DUMP) as dump:
            await asyncio.to_thread(run_restore, tools, url, dump, progress.heard)
        async with installation.open_database(url) as database:
            await migrate(database)
            await database.execute("ANALYZE")
