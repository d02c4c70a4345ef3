"""The files in `examples/`: beside the source, or inside an installed package."""

from pathlib import Path

import cadenza
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import InstallationError
from cadenza.manifest.files import read_manifest
from cadenza.roots.validation_policy import checks

_PACKAGE = Path(cadenza.__file__).parent
_FOLDERS = (_PACKAGE / "examples", _PACKAGE.parents[1] / "examples")


def example_job(file: str) -> JobDefinition:
    path = next((folder / file for folder in _FOLDERS if (folder / file).is_file()), None)
    if path is None:
        raise InstallationError(f"{file} is not among the examples: this installation has lost it")
    manifest = read_manifest(path, checks(), None)
    if manifest.problems or len(manifest.jobs) != 1:
        problems = "\n".join(map(str, manifest.problems)) or "one job is expected"
        raise InstallationError(f"{path} cannot be used:\n{problems}")
    return manifest.jobs[0]
