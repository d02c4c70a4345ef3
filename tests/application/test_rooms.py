"""Who may call what: what the import contracts leave to whoever adds a room or a library."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "cadenza"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
ROOMS = {f"cadenza.{path.parent.name}" for path in SOURCE.glob("*/__init__.py")}
MODULES = {f"cadenza.{path.stem}" for path in SOURCE.glob("[!_]*.py")}


def test_every_room_has_its_layer() -> None:
    (layers,) = (
        " ".join(contract["layers"]) for contract in CONTRACTS if contract["type"] == "layers"
    )
    assert set(re.findall(r"cadenza\.\w+", layers)) == ROOMS | MODULES


def test_every_room_but_the_application_is_held_back_from_the_governor() -> None:
    (held_back,) = (
        contract["source_modules"]
        for contract in CONTRACTS
        if "cadenza.domain.governor" in contract.get("forbidden_modules", ())
    )
    assert set(held_back) == (ROOMS | MODULES) - {"cadenza.application", "cadenza.domain"}


def test_the_application_needs_no_library() -> None:
    needed = {
        name.split(".")[0]
        for file in (SOURCE / "application").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in _imported(node)
    }
    assert needed - sys.stdlib_module_names == {"cadenza"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
