"""`cadenza doctor` about what lies between programs and their database."""

import asyncio
import json
import subprocess
from pathlib import Path

from tests.adapters.postgres.support import CADENZA, environment
from tests.deploy.pgbouncer import pgbouncer
from tests.deploy.test_replica import both
from tests.postgres import MASTER_KEY, migrated_database_url


async def checks(url: str, folder: Path, **settings: object) -> dict[str, dict[str, str]]:
    env = environment(url, master_key=MASTER_KEY, data_folder=folder, **settings)
    command = [CADENZA, "doctor", "--json"]
    done = await asyncio.to_thread(
        subprocess.run, command, env=env, cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return {check["name"]: check for check in json.loads(done.stdout)}


async def test_it_says_that_nobody_hears_behind_a_pooler_and_what_helps(tmp_path: Path) -> None:
    async with migrated_database_url() as url, pgbouncer(url) as pooled:
        said = await checks(pooled, tmp_path)
        assert said["database"]["state"] == "ok"
        assert said["pooler"]["state"] == "warning"
        assert "CADENZA_LISTEN_DATABASE_URL" in said["pooler"]["fix"]

        mended = await checks(pooled, tmp_path, listen_database_url=url)
        assert mended["pooler"]["state"] == "ok"
        useless = await checks(pooled, tmp_path, listen_database_url=pooled)
        assert useless["pooler"]["state"] == "error"
        async with migrated_database_url() as another:
            astray = await checks(pooled, tmp_path, listen_database_url=another)
            assert "another database" in astray["pooler"]["what"]


async def test_without_a_pooler_or_replicas_it_says_nothing_of_them(tmp_path: Path) -> None:
    async with migrated_database_url() as url:
        assert {"pooler", "replicas"}.isdisjoint(await checks(url, tmp_path))
        said = await checks(both(url, url), tmp_path)
        assert "2 servers configured" in said["replicas"]["what"]
