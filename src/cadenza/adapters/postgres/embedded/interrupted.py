"""A restore that was killed: what it had moved comes back, and what it had not finished goes."""

import shutil
from pathlib import Path

from cadenza.adapters.postgres.embedded.lock import held

WORK, KEPT = "restoring_", "data_before_"


def undo_interrupted(folder: Path) -> None:
    """Under the folder's lock. Without this, a start would find no data, and begin with none."""
    for work in folder.glob(f"{WORK}*"):
        kept = folder / f"{KEPT}{work.name.removeprefix(WORK)}"
        if kept.exists() and not (folder / "data").exists():
            kept.rename(folder / "data")
        with held(work / "server.lock"):  # until its server is gone
            shutil.rmtree(work, ignore_errors=True)
