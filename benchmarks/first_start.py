"""How long `make up` takes on a machine that has nothing of it yet, and the second time.

    python -m benchmarks.first_start

A fresh clone of what is committed here, in a temporary folder; the time from `make up` to
"Cadenza is up". Packages come from wherever pip takes them, with an empty cache of its own, so that
the first figure is mostly the network's and the disk's.
"""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from cadenza.adapters.system.listening import free_port

ROOT = Path(__file__).parent.parent
READY = re.compile("Cadenza is up at")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "cadenza"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {**os.environ, "PIP_NO_CACHE_DIR": "1"}
        for attempt in ("first", "second"):
            print(f"{attempt} make up: {_seconds(clone, environment):.1f} s")
        size = sum(file.lstat().st_size for file in (clone / ".venv").rglob("*"))
        print(f".venv: {size / 1e6:.0f} MB")


def _seconds(clone: Path, environment: dict[str, str]) -> float:
    options = f"--port {free_port()} --sample-port {free_port()}"
    began = time.monotonic()
    program = subprocess.Popen(
        ["make", "up", f"UP={options}"], cwd=clone, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert program.stdout is not None
    said: list[str] = []
    for line in program.stdout:
        said.append(line)
        if READY.search(line):
            break
    else:
        raise SystemExit("".join(said))
    took = time.monotonic() - began
    program.terminate()
    program.communicate()
    return took


if __name__ == "__main__":
    main()
