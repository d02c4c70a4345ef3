"""After a restore every balance is still the sum of its ledger, and one that is not is named."""

from pathlib import Path

from cadenza.adapters.postgres.database import open_database
from cadenza.roots.serving import served
from tests.backends import POSTGRES, PostgresBackend, new_backend
from tests.deploy.test_backup import ran
from tests.postgres import MASTER_KEY, fresh_database_url
from tests.web.furniture import furnish
from tests.web.support import ADMIN, SETTINGS, Settings, site_over


async def test_the_ledger_of_a_restored_database_verifies(tmp_path: Path) -> None:
    file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
    async with (
        new_backend(POSTGRES) as backend,
        site_over(backend) as site,
        fresh_database_url() as elsewhere,
    ):
        assert isinstance(backend, PostgresBackend)
        await furnish(site, site.ours)
        done = await ran("backup", file, url=backend.url, folder=tmp_path, **keyed)
        assert done.returncode == 0, done.stderr
        done = await ran("restore", file, url=elsewhere, folder=tmp_path, **keyed)
        assert done.returncode == 0, done.stderr
        database = await open_database(elsewhere, connections=4)
        restored = await PostgresBackend.over(database, elsewhere)
        for table in ("ledger", "charges", "accounts"):
            rows = f"SELECT to_jsonb(t) AS row FROM {table} AS t ORDER BY 1"
            kept = await backend.rows(rows)
            assert kept
            assert await restored.rows(rows) == kept
        async with restored.app(Settings(**SETTINGS)) as app, served(app) as port:
            there = {
                "url": None, "folder": tmp_path,
                "api_url": f"http://127.0.0.1:{port}", "api_key": site.ours.keys[ADMIN],
            }  # fmt: skip
            verified = await ran("ledger", "verify", **there)
            assert verified.returncode == 0, verified.stderr + verified.stdout
            await restored.execute("UPDATE accounts SET balance = balance + 1")
            assert (await ran("ledger", "verify", **there)).returncode == 1
        await database.close()
