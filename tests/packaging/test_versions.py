"""The wheel on every version of Python that it says it runs on, where one of it is to be had: on
the path, from pyenv or from uv. pip brings what it needs, from the index of this environment.
"""

import asyncio
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.adapters.postgres.support import environment, until
from tests.packaging.conftest import clean_environment, wheel_of
from tests.postgres import migrated_database_url

VERSIONS = ("3.11", "3.12", "3.13")
PROGRAM = """
    import asyncio, os
    from cadenza import Cadenza, Run

    app = Cadenza("shop")

    @app.every("1s", min="1s", job="shop")
    async def queue_depth(run: Run) -> dict[str, int]:
        return {"queue_depth": 400, "attempt": run.attempt}

    queue_depth.when("response.queue_depth > 300", interval="1s", ttl="1m")

    @app.every("1s")
    def in_a_thread() -> int:
        return os.getpid()

    @app.every("1s", isolate=True)
    def in_a_child() -> int:
        return os.getpid()

    if __name__ == "__main__":
        app.run()
"""
ABOUT = """
    from datetime import UTC, datetime
    from standardwebhooks import Webhook
    from cadenza import Client
    from cadenza.client.errors import Unreachable
    from cadenza.receive import Receiver
    from cadenza.testing import Simulation
    from shop import app, queue_depth

    with Simulation(app) as shop:
        shop.advance("5m")
        assert len(shop.runs(queue_depth)) > 250, len(shop.runs(queue_depth))

    secret, now, key = "whsec_" + "c2VjcmV0" * 4, datetime.now(UTC), "e:2026-03-02T12:00:00Z"
    signature = Webhook(secret).sign(key, now, "{}")
    headers = {"webhook-id": key, "webhook-timestamp": str(int(now.timestamp()))}
    headers |= {"webhook-signature": signature, "cadenza-attempt": "1"}
    print(Receiver(secret).verify(headers, b"{}").key)

    try:
        Client("http://127.0.0.1:1", "key").get_job("shop")
    except Unreachable as error:
        print(error)
"""


def _candidates(version: str) -> Iterator[str]:
    if (on_path := shutil.which(f"python{version}")) is not None:
        yield on_path
    for root in (Path.home() / ".pyenv", Path("/opt/pyenv")):
        yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True))
    if (uv := shutil.which("uv")) is not None:
        asked = [uv, "python", "find", "--offline", "--no-project", version]
        yield subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def _interpreter(version: str) -> str | None:
    """One that starts: a shim of pyenv may have nothing behind it."""
    tell = "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for candidate in filter(None, _candidates(version)):
        shown = subprocess.run([candidate, "-c", tell], capture_output=True, text=True, check=False)
        if shown.stdout.strip() == version:
            return candidate
    return None


@pytest.fixture(scope="module", params=[v for v in VERSIONS if f"{v}." not in sys.version])
def python(
    request: pytest.FixtureRequest, built: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Another version than this one, with the wheel and what it needs."""
    version: str = request.param
    interpreter = _interpreter(version)
    if interpreter is None:
        pytest.skip(f"there is no Python {version} here")
    folder = tmp_path_factory.mktemp(f"python-{version}")
    subprocess.run([interpreter, "-m", "venv", str(folder)], check=True, capture_output=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", str(wheel_of(built))]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if "No matching distribution found" in installed.stderr:
        pytest.skip(f"no index here has the packages for Python {version}: {installed.stderr}")
    assert installed.returncode == 0, installed.stderr
    return folder / "bin" / "python"


async def test_a_program_runs_on_it(python: Path, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(textwrap.dedent(PROGRAM))
    async with migrated_database_url() as url:
        ours = environment(url)
        settings = {name: ours[name] for name in ours if not name.startswith("PYTHON")}
        log = tmp_path / "log"
        program = _started(python, log, settings)
        try:
            await until(lambda: _each_has_run(url) if program.poll() is None else True, within=120)
        finally:
            program.terminate()
            assert await asyncio.to_thread(program.wait, 120) == 0, log.read_text()
        assert await _failures(url) == []
    assert "Traceback" not in log.read_text()


def _started(python: Path, log: Path, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("w") as out:
        command = [str(python), "-W", "error", "shop.py"]
        return subprocess.Popen(command, cwd=log.parent, stderr=out, env=settings)


async def _each_has_run(url: str) -> bool:
    names = await _column(
        url,
        "SELECT DISTINCT e.name FROM runs JOIN endpoints e"
        " ON e.id = endpoint_id WHERE status = 'success'",
    )
    return set(names) == {"queue_depth", "in_a_thread", "in_a_child"}


async def _failures(url: str) -> list[str]:
    return await _column(
        url, "SELECT error_message FROM runs WHERE status IN ('failure', 'timeout')"
    )


async def _column(url: str, statement: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        return [row[0] for row in await connection.fetch(statement)]
    finally:
        await connection.close()


def test_simulation_client_and_receiver_work_on_it(python: Path, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "about.py").write_text(textwrap.dedent(ABOUT))
    command = [str(python), "-W", "error", "about.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=clean_environment(), check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(
        r"e:2026-03-02T12:00:00Z\nthe server at .* cannot be reached: .*\n", done.stdout
    )
    version = [str(python.with_name("cadenza")), "--version"]
    shown = subprocess.run(version, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("cadenza ")
