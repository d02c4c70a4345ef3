"""Scenarios: a job, what its endpoints answered, one look, and what should come of it.

Each is a YAML file in `scenarios/`. Times are relative to the look, which is always at the same
instant, so that bodies may hold times of their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cadenza.domain.analysis import Response
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import InstallationError
from cadenza.domain.run import RunStatus
from cadenza.manifest.checking import Checks, check_manifest
from cadenza.manifest.durations import parse_duration
from cadenza.replay.history import History

LOOKED_AT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)  # a Wednesday
Duration = Annotated[timedelta, BeforeValidator(parse_duration)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerDocument(_Document):
    """What was answered from then on, until the next one."""

    ago: Duration | None = None
    after: Duration | None = None
    body: Any = None
    status: RunStatus = RunStatus.SUCCESS
    http_status: int | None = 200
    error_kind: str | None = None

    @property
    def at(self) -> datetime:
        return LOOKED_AT - (self.ago or timedelta(0)) + (self.after or timedelta(0))


class EarlierDocument(_Document):
    """Something that somebody did before the look, through the tools."""

    ago: Duration
    by: Literal["person", "model", "detector"]
    endpoint: str
    tool: Literal["propose_interval", "pause_until"]
    arguments: dict[str, Any]


class RangeDocument(_Document):
    at_least: Duration = timedelta(0)
    at_most: Duration = timedelta(days=365)


class RunsDocument(_Document):
    within: Duration
    at_least: int = 0
    at_most: int = 1_000_000


class ExpectationDocument(_Document):
    """What must hold after the look. `says` is what a person reads in the table."""

    says: str
    endpoint: str | None = None  # None: the one that is looked at
    no_change_tried: bool = False  # by any call, of any endpoint
    untouched: bool = False
    hints: Literal["none"] | None = None
    interval: RangeDocument | None = None
    expires_in: RangeDocument | None = None
    paused_for: RangeDocument | None = None
    runs: RunsDocument | None = None
    next_look_in: RangeDocument | None = None


class ScenarioDocument(_Document):
    about: str
    job: dict[str, Any]  # as in cadenza.yaml; targets are not called
    look_at: str
    answers: dict[str, list[AnswerDocument]]
    earlier: list[EarlierDocument] = Field(default_factory=list[EarlierDocument])
    live_on_for: Duration = timedelta(hours=1)
    expect: list[ExpectationDocument]


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    document: ScenarioDocument
    job: JobDefinition

    @property
    def histories(self) -> Mapping[str, History]:
        return {
            endpoint: History([_response(answer) for answer in answers])
            for endpoint, answers in self.document.answers.items()
        }

    @property
    def begin(self) -> datetime:
        answers = self.document.answers.values()
        return min(answer.at for of_endpoint in answers for answer in of_endpoint)


def scenarios(checks: Checks) -> Mapping[str, Scenario]:
    """All that come with Cadenza, by name."""
    return {name: scenario_of(name, text, checks) for name, text in _files()}


def scenario_of(name: str, text: str, checks: Checks) -> Scenario:
    document = ScenarioDocument.model_validate(yaml.safe_load(text))
    checked = check_manifest({"jobs": [document.job]}, checks)
    if checked.errors:
        raise InstallationError(f"{name}: " + "; ".join(map(str, checked.errors)))
    (job,) = checked.jobs
    return Scenario(name, document, job)


def _files() -> Iterator[tuple[str, str]]:
    folder = resources.files("cadenza.replay.evaluation").joinpath("scenarios")
    files = (file for file in folder.iterdir() if file.name.endswith(".yaml"))
    for file in sorted(files, key=lambda file: file.name):
        yield file.name.removesuffix(".yaml"), file.read_text(encoding="utf-8")


def _response(answer: AnswerDocument) -> Response:
    ending = (answer.status, answer.body, None, answer.http_status, answer.error_kind)
    return Response(answer.at, answer.at, *ending)
