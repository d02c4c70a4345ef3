"""Cadenza as somebody new has it: the wheel in an environment of its own, and `cadenza up`."""

import os
import re
import shutil
import site
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.documents.commands import ROOT
from tests.ports import free_port

READY = re.compile(r"Cadenza is up at (\S+)")
SECONDS = 240


def installed_wheel(folder: Path) -> Path:
    """The folder of its programs. What it depends on is that of the development environment,
    which is not told of the source."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, symlinks=True, with_pip=False)
    python = environment / "bin/python"
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, *install], check=True, capture_output=True)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    # A plain path: the link to the source in there is not followed.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return environment / "bin"


@dataclass(frozen=True, slots=True)
class Up:
    folder: Path
    programs: Path
    url: str
    sample_port: int

    def environment(self, **more: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("CADENZA_")}  # noqa: TID251
        return {
            **kept,
            "PATH": f"{self.programs}:{kept.get('PATH', '')}",
            "CADENZA_DATA_FOLDER": str(self.folder / ".cadenza"),
            **more,
        }

    def output_of(self, *words: str) -> str:
        done = subprocess.run(
            [str(self.programs / "cadenza"), *words],
            cwd=self.folder, env=self.environment(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout


@contextmanager
def up(folder: Path, programs: Path) -> Iterator[Up]:
    """Everything on this machine, as `make up` starts it: with the example graphs."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    port, sample_port = free_port(), free_port()
    running = Up(folder, programs, f"http://127.0.0.1:{port}", sample_port)
    command = ["cadenza", "up", "--port", str(port), "--sample-port", str(sample_port)]
    graphs = {
        "CADENZA_GRAPH_FILES": "examples/graphs/langgraph.json",
        "CADENZA_GRAPH_FUNCTIONS": "digest:digest",
        "CADENZA_GRAPH_PATHS": "examples/graphs",
        "CADENZA_SHELL_ALLOWED": "true",
        "CADENZA_PRICES": '{"cadenza-poet": {"input": 1, "output": 2}}',
    }
    log = folder / "up.log"
    with log.open("w") as output:
        program = subprocess.Popen(
            [str(programs / command[0]), *command[1:]],
            cwd=folder, env=running.environment(**graphs), stdout=subprocess.PIPE, stderr=output,
            stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            assert program.stdout is not None
            if not any(READY.search(line) for line in program.stdout):
                raise AssertionError(log.read_text())
            _await_graphs(running)
            yield running
        finally:
            program.terminate()
            program.communicate(timeout=SECONDS)


def _await_graphs(running: Up) -> None:
    """Those are loaded a little after everything else is up; a test is quicker than a reader."""
    for _ in range(10 * SECONDS):
        with suppress(urllib.error.HTTPError):  # 503 until then
            urllib.request.urlopen(f"{running.url}/readyz").close()
            return
        time.sleep(0.1)
    raise AssertionError("the graph worker did not come")
