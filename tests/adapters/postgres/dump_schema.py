"""The schema that the migrations make, as one file to read: `docs/reference/schema.sql`.

After adding a migration, write it anew with

    .venv/bin/python -m tests.adapters.postgres.dump_schema

`test_migrations.py` fails while the file and the migrations differ.
"""

import asyncio
import re
import subprocess
from pathlib import Path

from cadenza.adapters.postgres.embedded.installation import choose_installation
from tests.postgres import migrated_database_url

SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "schema.sql"
HEADER = """\
-- What all migrations together make; only to read. Written by
-- `python -m tests.adapters.postgres.dump_schema`, and held to the migrations by a test.
"""
# Comments, settings of the session that would restore it, and psql's own commands, whose tokens
# are new with each dump.
NOISE = re.compile(r"^(--.*|SET .*;|SELECT pg_catalog\.set_config\(.*\);|\\.*)$", re.MULTILINE)


def dump(url: str) -> str:
    """The schema of a database, without what depends on who dumped it when."""
    program = choose_installation(None, None).binaries / "pg_dump"
    command = [program, "--schema-only", "--no-owner", "--no-privileges", f"--dbname={url}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = NOISE.sub("", done.stdout)
    return HEADER + "\n" + re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


async def dump_migrated() -> str:
    async with migrated_database_url() as url:
        return await asyncio.to_thread(dump, url)


if __name__ == "__main__":
    SCHEMA.write_text(asyncio.run(dump_migrated()))
