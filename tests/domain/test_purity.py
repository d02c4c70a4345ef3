"""The domain is pure: standard library only, no clock, no chance, no await, no IO."""

import ast
import sys
from pathlib import Path

import pytest

DOMAIN = Path(__file__).parents[2] / "src" / "cadenza" / "domain"
FILES = sorted(DOMAIN.rglob("*.py"))
IMPURE = {
    "asyncio",
    "concurrent",
    "io",
    "logging",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "zoneinfo",
}
CLOCKS = {"now", "utcnow", "today"}
EFFECTS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be judged"
            names.add(node.module or "")
            if node.module == "cadenza":
                names.update(f"cadenza.{each.name}" for each in node.names)
    return names


def called(tree: ast.AST) -> set[str]:
    """Names of the functions that are called, and of attributes that are clocks."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names.add(node.func.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(f"{node.value.id}.{node.attr}")
    return names


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def tree(request: pytest.FixtureRequest) -> ast.Module:
    return ast.parse(request.param.read_text(encoding="utf-8"))


def test_there_is_a_domain_to_look_at() -> None:
    assert {"governor.py", "steering.py", "outcome.py"} <= {path.name for path in FILES}


def test_the_domain_imports_the_standard_library_and_itself(tree: ast.Module) -> None:
    for name in imported(tree) - {"cadenza"}:
        ours = name == "cadenza.domain" or name.startswith("cadenza.domain.")
        assert ours or name.split(".")[0] in sys.stdlib_module_names, name


def test_the_domain_imports_nothing_with_a_clock_chance_threads_or_io(tree: ast.Module) -> None:
    roots = {name.split(".")[0] for name in imported(tree)}

    assert roots & IMPURE == set()


def test_the_domain_never_waits(tree: ast.Module) -> None:
    waiting = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)

    assert [node.lineno for node in ast.walk(tree) if isinstance(node, waiting)] == []


def test_the_domain_never_asks_what_time_it_is(tree: ast.Module) -> None:
    clocks = {f"{owner}.{each}" for owner in ("datetime", "date") for each in CLOCKS}

    assert called(tree) & clocks == set()


def test_the_domain_opens_and_prints_nothing(tree: ast.Module) -> None:
    assert called(tree) & EFFECTS == set()
