"""Wheel and sdist, built once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with sdist and wheel."""
    folder = tmp_path_factory.mktemp("dist")
    hatchling = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(hatchling, cwd=ROOT, check=True, capture_output=True)
    return folder


def wheel_of(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


def clean_environment() -> dict[str, str]:
    """Ours, without what would lead to this source or to a server."""
    ours = dict(os.environ)  # noqa: TID251
    return {
        name: value for name, value in ours.items() if not name.startswith(("CADENZA", "PYTHON"))
    }
