"""The site as `make docs` builds it, in a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.documents.commands import ROOT


def build_site(folder: Path) -> str:
    """What the build said; without a warning that is nothing."""
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # noqa: TID251
    done = subprocess.run(
        mkdocs, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said
