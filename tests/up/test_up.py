"""`cadenza up` as a newcomer has it: one command, three lines, a crash, an end, a second start."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from urllib.error import URLError
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest

from tests.ports import free_port

pytestmark = pytest.mark.chaos
COMMAND = Path(sys.executable).parent / "cadenza"


@dataclass(slots=True)
class Program:
    process: subprocess.Popen[str]
    folder: Path
    port: int
    lines: list[str] = field(default_factory=list[str])

    def wait_for(self, text: str, within: float = 60) -> str:
        """The line that holds it."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            for line in list(self.lines):
                if text in line:
                    return line
            assert self.process.poll() is None, "".join(self.lines)
            time.sleep(0.05)
        raise AssertionError(f"{text!r} was not printed:\n{''.join(self.lines)}")

    def first_lines(self) -> list[str]:
        self.wait_for("tail --count")
        return [line.strip() for line in self.lines if re.match(r"cadenza ", line)]

    def ready(self) -> dict[str, object]:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
                return json.load(answer)
        except URLError:
            return {"ready": False}

    def children(self) -> dict[str, int]:
        """The parts that run, by name, with their process."""
        listed = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        named = re.findall(r"(\d+) .*cadenza(?:\.roots\.main)? (\w+)", listed)
        return {name: int(pid) for pid, name in named}


@contextmanager
def up(folder: Path) -> Iterator[Program]:
    port = free_port()
    process = subprocess.Popen(
        [COMMAND, "up", "--port", str(port)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**_environment(), "NO_COLOR": "1", "COLUMNS": "200"},
    )  # fmt: skip
    program = Program(process, folder, port)
    assert process.stdout is not None
    reading = Thread(target=program.lines.extend, args=(process.stdout,), daemon=True)
    reading.start()
    try:
        yield program
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        reading.join(10)
        process.stdout.close()


def _environment() -> dict[str, str]:
    """Ours without any setting of Cadenza."""
    ours = dict(os.environ)  # noqa: TID251
    return {name: value for name, value in ours.items() if not name.startswith("CADENZA_")}


def test_a_newcomer_has_the_first_runs_by_three_lines(tmp_path: Path) -> None:
    with up(tmp_path) as program:
        lines = program.first_lines()
        assert len(lines) == 3
        key = program.wait_for("cdz_")
        assert "loopback,private" in program.wait_for("may call public addresses")
        link = program.wait_for("/sign-in/").split()[-1]
        assert max(len(key.rstrip()), len(link) + 2) <= 80  # whole on a line, to be copied
        assert "<h1>Overview</h1>" in _opened(link)
        assert "has been used" in _opened(link)
        path = program.wait_for("export PATH").strip()
        for line in lines:
            done = _run(f"{path}\n{line}", tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert program.ready()["ready"] is True

        client = tmp_path / ".cadenza" / "client.json"
        assert stat.S_IMODE(client.stat().st_mode) == 0o600
        assert json.loads(client.read_text())["key"] in key

        scheduler = program.children()["scheduler"]
        os.kill(scheduler, signal.SIGKILL)
        program.wait_for("scheduler has ended; starting it again")
        _until(lambda: program.children().get("scheduler") not in (None, scheduler))

        program.process.send_signal(signal.SIGINT)
        assert program.process.wait(60) == 0
    _second_start_finds_the_same(tmp_path)


def _opened(link: str) -> str:
    """By a browser that has never been there."""
    cookies = HTTPCookieProcessor()
    with build_opener(cookies).open(link, timeout=30) as page:
        return page.read().decode()


def _second_start_finds_the_same(folder: Path) -> None:
    with up(folder) as program:
        program.first_lines()
        assert not any("cdz_" in line for line in program.lines)
        listed = _run(f"{COMMAND} endpoints list --json", folder)
        assert listed.returncode == 0, listed.stderr
        assert "queue" in listed.stdout


def test_everything_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    with up(tmp_path) as program:
        program.first_lines()
        parts = program.children()
        assert {"api", "scheduler"} <= set(parts)
        program.process.kill()
        program.process.wait(10)
        _until(lambda: not any(_lives(pid) for pid in parts.values()))
        server = _postgres_of(tmp_path)
        _until(lambda: server is None or not _lives(server))


def test_a_port_that_is_taken_is_told_with_another(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = _run(f"{COMMAND} up --port {port}", tmp_path)
    assert done.returncode == 1
    assert f"--port {port + 10}" in done.stderr
    assert not (tmp_path / ".cadenza" / "postgres").exists()


def _run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As a person types it."""
    return subprocess.run(
        line, shell=True, cwd=folder, capture_output=True, text=True, timeout=120,
        env=_environment(), check=False,
    )  # fmt: skip


def _postgres_of(folder: Path) -> int | None:
    for file in folder.glob(".cadenza/postgres/**/postmaster.pid"):
        return int(file.read_text().split()[0])
    return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def _until(condition: Callable[[], bool], within: float = 60) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.1)
