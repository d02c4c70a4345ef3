"""Puts the documentation's site into the wheel. Where what builds it is not installed (an isolated
build, which has hatchling alone), the pages go in as they are written, and `/docs` shows those."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ("mkdocs", "material", "fastapi")
INSIDE = "cadenza/web/docs"


class DocumentationHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if not all(map(find_spec, NEEDED)):
            self.app.display_warning("mkdocs-material is not installed: no site in this wheel")
            build_data["force_include"][f"{self.root}/docs"] = f"{INSIDE}/source"
            return
        self._folder = TemporaryDirectory()
        _build(Path(self.root), self._folder.name)
        build_data["force_include"][self._folder.name] = f"{INSIDE}/site"

    def finalize(self, *_built: Any) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _build(root: Path, folder: str) -> None:
    """Of this source, whatever else is installed."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(root / "src")}  # noqa: TID251
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    subprocess.run(mkdocs, cwd=root, env=environment, check=True)  # noqa: S603
