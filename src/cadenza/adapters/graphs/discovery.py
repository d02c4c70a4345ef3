"""Finding graphs and importing them, each by itself: a broken one does not hide the others."""

import importlib
import importlib.util
import json
import os
import re
import signal
import sys
import sysconfig
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from cadenza.adapters.graphs.failure import message_of
from cadenza.adapters.graphs.sources import MODEL_VARIABLES, GraphSources

GROUP = "cadenza.graphs"
IMPORT_SECONDS = 60
MAX_PROBLEM = 500
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))


@dataclass(frozen=True, slots=True)
class Place:
    """`./poet.py:graph` in a folder, or `package.module:name`."""

    spec: str
    folder: str | None = None

    def load(self) -> Any:
        module, _, attribute = self.spec.rpartition(":")
        if not module or not attribute:
            raise ValueError(f"{self.spec!r} is not file.py:name or module:name")
        is_file = module.endswith(".py") or "/" in module
        loaded = _load_file(module, self.folder) if is_file else importlib.import_module(module)
        target: Any = loaded
        for name in attribute.split("."):
            target = getattr(target, name)
        return target


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    graph_id: str
    place: Place
    target: Any
    fresh: bool  # asked for a key or an address of models at import: to be imported for each run

    def for_this_run(self) -> Any:
        return self.place.load() if self.fresh else self.target


def find(sources: GraphSources) -> tuple[dict[str, Place], dict[str, str]]:
    """Every graph that is named somewhere, and what is wrong with files that name some."""
    sys.path[:0] = [path for path in sources.paths if path not in sys.path]
    places: dict[str, Place] = {}
    problems: dict[str, str] = {}
    for name in sources.files:
        try:
            places |= _of_file(Path(name).resolve())
        except (OSError, ValueError, TypeError, AttributeError) as error:
            problems[f"langgraph:{name}"] = f"this file cannot be read: {error}"[:MAX_PROBLEM]
    if sources.entry_points:
        for entry in entry_points(group=GROUP):
            graph_id = entry.name if ":" in entry.name else f"langgraph:{entry.name}"
            places[graph_id] = Place(entry.value)
    places |= {f"langgraph:{name}": Place(spec) for name, spec in sources.langgraph.items()}
    places |= {f"python:{name}": Place(name) for name in sources.python}
    return places, problems


def load(graph_id: str, place: Place) -> LoadedGraph | str:
    """The graph, or what is wrong with it."""
    before = set(sys.modules)
    try:
        with _limited_time(), _watched_environment() as was_read:
            target = place.load()
    except BaseException as error:  # noqa: BLE001 — user code: also sys.exit, and worse
        _forget(before)
        return message_of(error)[:MAX_PROBLEM]
    if was_read():
        _forget(before)
    return LoadedGraph(graph_id, place, target, was_read())


def _of_file(path: Path) -> dict[str, Place]:
    content: Any = json.loads(path.read_text())
    folder = path.parent
    for dependency in content.get("dependencies", ["."]):
        if str(dependency).startswith("."):
            sys.path.insert(0, str((folder / dependency).resolve()))
    os.environ.update(_variables(content.get("env") or {}, folder))  # noqa: TID251 — the child's
    return {
        f"langgraph:{name}": Place(spec if isinstance(spec, str) else spec["path"], str(folder))
        for name, spec in content["graphs"].items()
    }


def _variables(env: Any, folder: Path) -> dict[str, str]:
    """A mapping, or the name of a file with a NAME=value in each line."""
    if not isinstance(env, str):
        pairs = [(str(name), str(value)) for name, value in env.items()]
    else:
        lines = [line.strip() for line in (folder / env).read_text().splitlines()]
        named = [line.removeprefix("export ") for line in lines if not line.startswith("#")]
        pairs = [(k.strip(), v.strip().strip("'\"")) for k, eq, v in map(_split, named) if eq]
    return {name: value for name, value in pairs if name not in MODEL_VARIABLES}


def _split(line: str) -> tuple[str, str, str]:
    return line.partition("=")


def _load_file(name: str, folder: str | None) -> ModuleType:
    path = Path(folder or ".", name).resolve()
    # The same name in every process: a kept state may hold instances of its classes.
    module_name = re.sub(r"\W", "_", str(path.with_suffix("")))
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no Python file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module


def _forget(before: set[str]) -> None:
    """The user's own modules that came since; libraries stay loaded."""
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file and not file.startswith(_LIBRARIES) and not name.startswith("cadenza"):
            del sys.modules[name]


@contextmanager
def _watched_environment() -> Generator[Callable[[], bool]]:
    """Whether a variable of the models' clients was read."""
    environment: Any = os.environ  # noqa: TID251 — watched, not read
    plain_type: Any = environment.__class__
    reads: list[str] = []

    def watching(self: Any, key: str) -> str:
        if key in MODEL_VARIABLES:
            reads.append(key)
        return plain_type.__getitem__(self, key)

    environment.__class__ = type("Watching", (plain_type,), {"__getitem__": watching})
    try:
        yield lambda: bool(reads)
    finally:
        environment.__class__ = plain_type


@contextmanager
def _limited_time() -> Generator[None]:
    def too_long(*_: object) -> None:
        raise TimeoutError(f"not imported within {IMPORT_SECONDS} s")

    previous = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, IMPORT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
