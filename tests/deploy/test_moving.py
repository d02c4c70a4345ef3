"""An installation of `cadenza up` moves to another folder while it runs, and its key is lost."""

import json
import os
import subprocess
from pathlib import Path

from tests.up.test_up import COMMAND, up


def cadenza(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    ours = dict(os.environ)  # noqa: TID251
    env = {name: value for name, value in ours.items() if not name.startswith("CADENZA_")}
    return subprocess.run(
        [str(COMMAND), *words], cwd=folder, env={**env, **more}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=120, check=False,
    )  # fmt: skip


def worked(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def key_in(folder: Path) -> str:
    return json.loads((folder / ".cadenza/client.json").read_text())["key"]


def test_what_was_backed_up_while_it_ran_starts_elsewhere_with_a_new_key(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    backup = str(tmp_path / "cadenza.backup")
    with up(here) as program:
        program.first_lines()
        worked(cadenza(here, "jobs", "create", "shop"))
        assert "It contains the master keys" in worked(
            cadenza(here, "backup", backup, "--with-key")
        )
        refused = cadenza(here, "restore", backup, "--yes")
        assert refused.returncode == 1
        assert "Stop them first" in refused.stderr
    worked(cadenza(there, "restore", backup))
    assert not (there / ".cadenza/client.json").exists()  # as when somebody has lost it

    with up(there) as program:
        program.first_lines()
        old, new = key_in(here), key_in(there)
        assert new in program.wait_for("cdz_")
        assert old != new
        assert "shop" in worked(cadenza(there, "jobs", "list", "--json"))
        address = {"CADENZA_API_URL": f"http://127.0.0.1:{program.port}"}
        by_the_old = {**address, "CADENZA_API_KEY": old}
        worked(cadenza(there, "whoami", **by_the_old))  # until it is revoked
        keys = [json.loads(line) for line in worked(cadenza(there, "keys", "list")).splitlines()]
        (first,) = sorted(keys, key=lambda key: key["created_at"])[:1]
        worked(cadenza(there, "keys", "revoke", first["id"], "--yes"))
        assert cadenza(there, "whoami", **by_the_old).returncode == 4
        worked(cadenza(there, "whoami"))
        # The installation's admin has a new key, too, and makes one for anybody.
        tenants = worked(cadenza(there, "tenants", "list", "--json"))
        assert tenants
