"""What a program declares: its functions, the jobs they are in, and rules about their answers.

Each is written as in a manifest, and checked as such where it is declared, so that an error shows
the line.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cadenza.adapters.functions.registered import RegisteredFunction, registered
from cadenza.domain.definition import MAX_NAME, JobDefinition
from cadenza.domain.errors import InvalidFields, InvalidInput, Refused
from cadenza.domain.function_target import FunctionTarget, check_program_name
from cadenza.manifest.checking import Checks, check_manifest
from cadenza.manifest.durations import format_duration
from cadenza.program.control import Control

Document = dict[str, Any]
_PATH = re.compile(r"jobs\[\d+\]\.((endpoints|rules)\[\d+\]\.)?")


@dataclass(slots=True)
class Declarations:
    program: str
    checks: Callable[[], Checks]
    functions: dict[str, RegisteredFunction] = field(default_factory=dict[str, RegisteredFunction])
    jobs: dict[str, Document] = field(default_factory=dict[str, Document])
    control: Control | None = None  # while it runs

    def __post_init__(self) -> None:
        check_program_name("name", self.program)

    def add_job(self, name: str, **fields: Any) -> None:
        """More about a job than its name."""
        self._check({"name": name, **_written(fields)})
        self._job(name).update(_written(fields))

    def add_function(
        self, name: str, call: Callable[..., Any], job: str, *, isolate: bool, **fields: Any
    ) -> None:
        if name in self.functions:
            raise InvalidInput(
                "name",
                name,
                "another function of this program has this name; give another with name=",
            )
        function = registered(name, call, isolate=isolate)
        path = FunctionTarget(self.program, name).path
        document = {"name": name, "function": path, **_written(fields)}
        self._check({"name": job, "endpoints": [document]})
        self.functions[name] = function
        self._job(job)["endpoints"].append(document)

    def add_rule(self, job: str, document: Document) -> Document:
        self._check({"name": job, "rules": [document]})
        self._job(job)["rules"].append(document)
        return document

    def definitions(self) -> tuple[JobDefinition, ...]:
        """InvalidFields with everything that is wrong."""
        checked = check_manifest(self._manifest(*self.jobs.values()), self.checks())
        if checked.errors:
            raise InvalidFields(list(checked.errors))
        return checked.jobs

    def warnings(self) -> Iterator[str]:
        """What is allowed, but hardly what was meant. Rules may name what is declared elsewhere."""
        checked = check_manifest(self._manifest(*self.jobs.values()), self.checks())
        yield from (text for path, text in checked.warnings if ".endpoints[" in path)

    @property
    def running(self) -> Control:
        if self.control is None:
            raise Refused(
                f"the program {self.program} is not running in this process: steer its functions "
                "inside `async with app`, or inside a function that it runs"
            )
        return self.control

    def _job(self, name: str) -> Document:
        empty: Document = {"name": name, "endpoints": [], "rules": []}
        return self.jobs.setdefault(name, empty)

    def _check(self, job: Document) -> None:
        for error in check_manifest(self._manifest(job), self.checks()).errors:
            raise InvalidInput(_PATH.sub("", error.field), error.value, error.fix)

    @staticmethod
    def _manifest(*jobs: Document) -> Document:
        return {"version": 1, "jobs": list(jobs)}


def rule_document(function: str, when: str, then: Document, **fields: Any) -> Document:
    """With a name of its own where none is given."""
    usual = f"{function}: {when}".replace("/", "|")[:MAX_NAME].strip()
    name = fields.pop("name", None) or usual
    written = _written(fields)
    return {"name": name, "endpoint": function, "when": when, "then": _written(then), **written}


def _written(fields: Document) -> Document:
    """Durations as a manifest has them; what is left out is not there."""
    return {
        name: format_duration(value) if isinstance(value, timedelta) else value
        for name, value in fields.items()
        if value is not None
    }
