"""The job that is looked back at, and what its endpoints answered: from a server, or from files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.output import Output
from cadenza.cli.recorded_answers import read_answers, stored_answers
from cadenza.cli.terminal_text import plain
from cadenza.domain.definition import JobDefinition
from cadenza.manifest.checking import check_manifest
from cadenza.manifest.files import read_manifest
from cadenza.replay.history import History

Since = Annotated[str, typer.Option(help="A time, or a duration ago such as 7d.")]
JobFile = Annotated[
    Path | None,
    typer.Option("--file", "-f", readable=False, help="Read the job and its rules from this file."),
]
Limit = Annotated[
    int, typer.Option(min=2, max=5000, help="The most recent responses to use per endpoint.")
]
Responses = Annotated[
    Path | None,
    typer.Option(readable=False, help="Read the history from a JSON Lines file; needs -f."),
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a history is read, and how much of it."""

    api: Api
    out: Output
    context: CliContext
    since: str
    limit: int
    file: Path | None
    responses: Path | None

    def job(self, name: str) -> JobDefinition:
        if self.file is not None:
            manifest = read_manifest(self.file, self.context.checks(), None)
            if manifest.problems:
                raise CommandError("\n".join(map(str, manifest.problems[:20])))
            jobs: list[JobDefinition] = manifest.jobs
        else:
            exported = self.api.get("/manifest")
            named = [job for job in exported["jobs"] if job["name"] == name]
            checked = check_manifest({**exported, "jobs": named}, self.context.checks())
            jobs = list(checked.jobs)
        job = next((job for job in jobs if job.name == name), None)
        if job is None:
            where = f"in {self.file}" if self.file else "on the server"
            raise usage(f"There is no job {plain(name)!r} {where}")
        return job

    def histories(self, job: JobDefinition) -> Mapping[str, History]:
        """By endpoint."""
        names = [endpoint.name for endpoint in job.endpoints]
        with self.out.working(f"Reading the answers of {job.name}"):
            if self.responses is not None:
                answers = read_answers(self.responses, None, job, self.context.now())
            else:
                at = self.out.times.ago("--since", self.since)
                answers = list(stored_answers(self.api, job, names, at, self.limit))
        return {
            name: History([answer.response for answer in answers if answer.endpoint == name])
            for name in names
        }
