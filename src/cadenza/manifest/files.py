"""A file, or a folder of files, into definitions; everything that is wrong has its place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import InvalidInput
from cadenza.manifest.checking import Checks, check_manifest
from cadenza.manifest.models import MAX_JOBS
from cadenza.manifest.problems import Place, Problem
from cadenza.manifest.reading import NO_SUCH_FIELD
from cadenza.manifest.text_files import MAX_BYTES, Unreadable, files_at, read_text
from cadenza.manifest.variables import expand, warnings_on
from cadenza.manifest.walking import jobs_in
from cadenza.manifest.yaml_text import Tree, read_tree

_EMPTY = "it is empty: write jobs: and a list of them, or take the file away"


@dataclass(slots=True)
class Manifest:
    """Jobs are complete only where there is no problem."""

    files: list[str] = field(default_factory=list[str])
    jobs: list[JobDefinition] = field(default_factory=list[JobDefinition])
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[Problem] = field(default_factory=list[Problem])


def read_manifest(path: Path, checks: Checks, environment: Mapping[str, str] | None) -> Manifest:
    """Without an environment secrets stay as they are written, which is enough to check a file."""
    manifest = Manifest()
    names: dict[str, Place] = {}
    left = MAX_BYTES
    for file in _files(path, manifest):
        try:
            text, size = read_text(file, left)
        except Unreadable as error:
            manifest.problems.append(error.problem)
            continue
        left -= size
        manifest.files.append(str(file))
        _add(manifest, read_tree(str(file), text), checks, environment, names)
    if len(manifest.jobs) > MAX_JOBS:
        what = f"{len(manifest.jobs):,} jobs in all; {MAX_JOBS:,} are the most"
        manifest.problems.append(Problem(Place(str(path)), "jobs", what))
    return manifest


def _files(path: Path, manifest: Manifest) -> list[Path]:
    try:
        return files_at(path)
    except Unreadable as error:
        manifest.problems.append(error.problem)
        return []


def _add(
    manifest: Manifest,
    tree: Tree,
    checks: Checks,
    environment: Mapping[str, str] | None,
    names: dict[str, Place],
) -> None:
    manifest.problems += tree.problems
    if tree.value is None:
        if not tree.problems:
            manifest.problems.append(Problem(Place(tree.file, 1, 1), "", _EMPTY))
        return
    manifest.warnings += [_warning(tree, *each) for each in warnings_on(tree.value)]
    errors = [] if environment is None else expand(tree.value, environment)
    checked = check_manifest(tree.value, checks)
    manifest.problems += _located(tree, [*errors, *checked.errors])
    manifest.problems += _names_given_twice(tree, names)
    manifest.warnings += [_warning(tree, *each) for each in checked.warnings]
    manifest.jobs += checked.jobs


def _located(tree: Tree, errors: list[InvalidInput]) -> list[Problem]:
    """In the order of the file; what hangs on something that was told already is left out."""
    problems = [
        Problem.of(tree.place_of(each.field, of_key=each.fix == NO_SUCH_FIELD), each)
        for each in errors
        if not tree.is_broken(each.field)
    ]
    return sorted(problems, key=lambda each: each.place)


def _warning(tree: Tree, path: str, what: str) -> Problem:
    return Problem(tree.place_of(path), path, f"{path}: {what}")


def _names_given_twice(tree: Tree, names: dict[str, Place]) -> list[Problem]:
    found: list[Problem] = []
    for path, job in jobs_in(tree.value):
        name, place = job.get("name"), tree.place_of(f"{path}.name")
        if not isinstance(name, str):
            continue
        first = names.setdefault(name, place)
        if first.file != place.file:  # twice in one file is told with the file
            fix = f"another job has it, at {first}: rename one, or put them together"
            found.append(Problem.of(place, InvalidInput(f"{path}.name", name, fix)))
    return found
