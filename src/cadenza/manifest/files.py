"""A file, or a folder of files, into definitions; everything that is wrong has its location."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import InvalidInput
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.manifest.checking import Checks, check_manifest
from cadenza.manifest.models import MAX_JOBS
from cadenza.manifest.problems import Problem, SourceLocation
from cadenza.manifest.reading import NO_SUCH_FIELD
from cadenza.manifest.text_loading import (
    MAX_BYTES,
    Unreadable,
    decoded,
    files_at,
    or_stdin,
    read_text,
)
from cadenza.manifest.variables import expand, items_in, warnings_on
from cadenza.manifest.yaml_loading import Tree, read_tree

Names = dict[tuple[str, str], SourceLocation]  # by kind and name
_EMPTY = "it is empty: write jobs: and a list of them, or take the file away"


@dataclass(slots=True)
class Manifest:
    """Jobs are complete only where there is no problem."""

    files: list[str] = field(default_factory=list[str])
    jobs: list[JobDefinition] = field(default_factory=list[JobDefinition])
    schedules: list[DeclaredSchedule] = field(default_factory=list[DeclaredSchedule])
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[Problem] = field(default_factory=list[Problem])


def read_manifest(path: Path, checks: Checks, environment: Mapping[str, str] | None) -> Manifest:
    """A dash is standard input. Without an environment secrets stay as they are written."""
    manifest = Manifest()
    names: Names = {}
    left = MAX_BYTES
    try:
        files = files_at(or_stdin(path))
    except Unreadable as error:
        return Manifest(problems=[error.problem])
    for file in files:
        try:
            text, size = read_text(file, left)
        except Unreadable as error:
            manifest.problems.append(error.problem)
            continue
        left -= size
        manifest.files.append(str(file))
        _add(manifest, read_tree(str(file), text), checks, environment, names)
    if len(manifest.jobs) > MAX_JOBS:
        message = f"{len(manifest.jobs):,} jobs in all; {MAX_JOBS:,} are the most"
        manifest.problems.append(Problem(SourceLocation(str(path)), "jobs", message))
    return manifest


def manifest_of(name: str, text: str, checks: Checks) -> Manifest:
    """Of text that was typed; its secrets stay as they are written."""
    manifest = Manifest([name])
    try:
        tree = read_tree(name, decoded(name, text.encode()))
    except Unreadable as error:
        return Manifest(problems=[error.problem])
    _add(manifest, tree, checks, None, {})
    return manifest


def _add(
    manifest: Manifest,
    tree: Tree,
    checks: Checks,
    environment: Mapping[str, str] | None,
    names: Names,
) -> None:
    manifest.problems += tree.problems
    if tree.value is None:
        if not tree.problems:
            manifest.problems.append(Problem(SourceLocation(tree.file, 1, 1), "", _EMPTY))
        return
    warnings = list(warnings_on(tree.value))  # before the secrets are filled in
    errors = [] if environment is None else expand(tree.value, environment)
    checked = check_manifest(tree.value, checks)
    manifest.problems += _located(tree, [*errors, *checked.errors])
    manifest.problems += _names_in_other_files(tree, names)
    manifest.warnings += [
        Problem(tree.location_of(path), path, f"{path}: {text}")
        for path, text in (*warnings, *checked.warnings)
    ]
    manifest.jobs += checked.jobs
    manifest.schedules += checked.schedules


def _located(tree: Tree, errors: list[InvalidInput]) -> list[Problem]:
    """In the order of the file; what follows from a problem of the YAML itself is left out."""
    problems = [
        Problem.of(tree.location_of(error.field, of_key=error.fix.startswith(NO_SUCH_FIELD)), error)
        for error in errors
        if not tree.is_broken(error.field)
    ]
    return sorted(problems, key=lambda problem: problem.location)


def _names_in_other_files(tree: Tree, names: Names) -> list[Problem]:
    problems: list[Problem] = []
    items = [("job", *item) for item in items_in(tree.value, "jobs")]
    items += [("schedule", *item) for item in items_in(tree.value, "schedules")]
    for kind, path, fields in items:
        name, location = fields.get("name"), tree.location_of(f"{path}.name")
        if not isinstance(name, str):
            continue
        first = names.setdefault((kind, name), location)
        if first.file != location.file:  # twice in one file is among the errors of the file
            fix = f"another {kind} has it, at {first}: rename one, or put them together"
            problems.append(Problem.of(location, InvalidInput(f"{path}.name", name, fix)))
    return problems
