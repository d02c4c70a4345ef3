"""What `make up` shows while it installs, where that does not go well."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.documents.commands import ROOT

NOT_THERE = "a-package-that-nobody-has"
PROJECT = f"""
[build-system]
requires = ["{NOT_THERE}"]
build-backend = "none"
[project]
name = "cadenza"
version = "0"
"""


def test_a_reason_why_nothing_can_be_installed_is_not_hidden(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").touch()
    ours = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}  # noqa: TID251
    environment = {**ours, "PIP_NO_INDEX": "1"}
    done = subprocess.run(
        ["make", "--no-print-directory", ".venv/.running", f"PYTHON={sys.executable}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode != 0
    assert done.stdout.startswith("Making .venv")
    assert f"No matching distribution found for {NOT_THERE}" in done.stdout


def test_an_environment_whose_making_was_interrupted_is_made_whole(tmp_path: Path) -> None:
    """Ctrl-C while it says "Making .venv" leaves a python and no pip."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    half_made = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / ".venv")]
    subprocess.run(half_made, check=True)
    ours = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}  # noqa: TID251
    done = subprocess.run(
        ["make", f"PYTHON={sys.executable}", "INSTALL=true", ".venv/.running"],
        cwd=tmp_path,
        env=ours,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Making .venv" in done.stdout
    pip = [tmp_path / ".venv/bin/python", "-m", "pip", "--version"]
    assert subprocess.run(pip, check=False).returncode == 0
