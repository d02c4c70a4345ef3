"""The version before this one, as it was, beside the libraries that are installed.

Nothing has been published yet, so the state that was landed last counts as the last release. Its
source is a file here, because a clone may be shallow or have no history at all. After a release:
name its commit, and run `python -m tests.deploy.previous`.
"""

import lzma
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PREVIOUS = "d3e39885420609bb6250fab67922b4f31bdefcb9"
ARCHIVE = Path(__file__).with_name("previous.tar.xz")
NOT_NEEDED = ("web/dashboard/static/vendor", "sim", "replay", "demo")


def unpacked_previous(folder: Path) -> Path:
    """The folder to put first on the path of modules."""
    with tarfile.open(ARCHIVE, "r:xz") as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def command(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "cadenza.roots.main", *words)


def write_archive(path: Path) -> None:
    """From the history of this repository."""
    without = [f":!src/cadenza/{name}" for name in NOT_NEEDED]
    archive = ["git", "archive", "--format=tar", PREVIOUS, "src", *without]
    tar = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout
    path.write_bytes(lzma.compress(tar, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    write_archive(ARCHIVE)
