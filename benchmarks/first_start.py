"""How long `make up` takes on a machine that has nothing of it yet, and the second time.

    python -m benchmarks.first_start

A fresh clone of what is committed here, in a temporary folder; the time from `make up` to
"Cadenza is up", and to the graph worker, which loads what graphs import after that. Packages come
from wherever pip takes them, with an empty cache of its own, so that the first figure is mostly the
network's and the disk's.
"""

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from cadenza.adapters.system.listening import free_port

ROOT = Path(__file__).parent.parent
READY = ("Cadenza is up at", "graph-worker started")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "cadenza"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {**os.environ, "PIP_NO_CACHE_DIR": "1"}
        for attempt in ("first", "second"):
            before = _processor_seconds()
            took, graphs = _seconds(clone, environment)
            used = _processor_seconds() - before
            print(
                f"{attempt} make up: {took:.1f} s, graphs {graphs:.1f} s "
                f"({used:.1f} s of processor time to its end)"
            )
        size = sum(file.lstat().st_size for file in (clone / ".venv").rglob("*"))
        print(f".venv: {size / 1e6:.0f} MB")


def _processor_seconds() -> float:
    """Of all programs that were started here and have ended: on a busy machine, what counts."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _seconds(clone: Path, environment: dict[str, str]) -> list[float]:
    """To each line of READY."""
    options = f"--port {free_port()} --sample-port {free_port()}"
    began = time.monotonic()
    program = subprocess.Popen(
        ["make", "up", f"UP={options}"], cwd=clone, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert program.stdout is not None
    said: list[str] = []
    times: dict[str, float] = {}
    for line in program.stdout:
        said.append(line)
        times |= {ready: time.monotonic() - began for ready in READY if ready in line}
        if len(times) == len(READY):
            break
    else:
        raise SystemExit("".join(said))
    program.terminate()
    program.communicate()
    return [times[ready] for ready in READY]


if __name__ == "__main__":
    main()
