"""Output that nobody takes: a message or nothing at all, never a stack trace."""

import subprocess
import sys
from pathlib import Path

CADENZA = f"{sys.executable} -m cadenza.roots.main"


def ran(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = ["sh", "-c", f"{CADENZA} {words}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    refused = ran("schema > /dev/full", tmp_path)
    assert refused.returncode == 1
    assert refused.stderr == "The output cannot be written: No space left on device\n"


def test_a_command_without_an_output_says_what_else_is_wrong(tmp_path: Path) -> None:
    refused = ran("jobs list --key cdz_x --server http://127.0.0.1:9 >&-", tmp_path)
    assert refused.returncode != 0
    assert "http://127.0.0.1:9" in refused.stderr
    assert "Traceback" not in refused.stderr
