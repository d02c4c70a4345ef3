"""The request bodies that are not documents of the manifest, and what they mean."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar, cast
from uuid import UUID

from fastapi import Body
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cadenza.application.accounts import MAX_OVERLAP
from cadenza.application.bulk import MOST_ENDPOINTS, MOST_MATCHES, BulkAction
from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.domain.access import Scope
from cadenza.domain.bounds import LONGEST_TTL, MAX_INTERVAL, MIN_INTERVAL, MIN_TTL
from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import EndpointState
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.instants import humanize
from cadenza.domain.people import INVITATION_LASTS, LONGEST_EMAIL, MOST_JOBS, Access, Role
from cadenza.domain.rule import Mode
from cadenza.domain.signing import DEFAULT_OVERLAP
from cadenza.domain.target import leaving_secrets
from cadenza.manifest.durations import format_duration, parse_duration
from cadenza.manifest.models import Document, Duration, EndpointDocument, JobFields, Name
from cadenza.manifest.planner import patched_planner
from cadenza.manifest.reading import (
    errors_of,
    field_errors,
    merged,
    read_endpoint,
    read_job_fields,
)
from cadenza.manifest.writing import endpoint_document, job_document
from cadenza.web.api.parsing.query import Instant

Model = TypeVar("Model", bound=BaseModel)
NOWHERE = "http://draft.invalid/"  # of a draft, only the schedule is looked at
Reason = Annotated[str, Field(max_length=500)]
RetentionDays = Annotated[int, Field(ge=1, le=3650)]
ModeWord = Annotated[Mode, Field(strict=False)]  # a word in JSON
RoleWord = Annotated[Role, Field(strict=False)]
Scopes = Annotated[
    list[Annotated[Scope, Field(strict=False)]], Field(min_length=1, max_length=len(Scope))
]


def validated(model: type[Model], document: dict[str, Any]) -> Model:
    """A document that was put together here; InvalidFields with every field that is wrong."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise InvalidFields(errors_of(error)) from error


# --- Jobs and endpoints -----------------------------------------------------------------------


def inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """Without references: the document has its definitions elsewhere."""
    if isinstance(part, list):
        return [inlined(item, definitions) for item in cast("list[Any]", part)]
    if not isinstance(part, dict):
        return part
    fields = cast("dict[str, Any]", part)
    if "$ref" in fields:
        return inlined(definitions[fields["$ref"].rpartition("/")[2]], definitions)
    return {name: inlined(inner, definitions) for name, inner in fields.items()}


def _patch_schema() -> dict[str, Any]:
    """That of the document, with nothing required, and headers that null takes away."""
    schema = EndpointDocument.model_json_schema()
    for field in ("headers", "secret_headers"):
        schema["properties"][field]["anyOf"][0]["additionalProperties"] = {
            "anyOf": [{"type": "string"}, {"type": "null"}]
        }
    properties = inlined(schema["properties"], schema["$defs"])
    return {"properties": properties, "additionalProperties": False}


JobPatch = Annotated[
    dict[str, Any],
    Body(
        description="A JSON merge patch of name, description, rules and planner: fields that "
        "are left out stay, null takes one away.",
        examples=[{"description": "Watch the checkout."}],
    ),
]
NewEndpoint = Annotated[
    EndpointDocument,
    Body(examples=[{"name": "orders", "every": "5m", "url": "https://shop.example/orders"}]),
]
EndpointPatch = Annotated[
    dict[str, Any],
    Body(
        description="A JSON merge patch of the endpoint as it is written: fields that are left "
        "out stay, null takes one away, another baseline or target replaces the present one.",
        examples=[{"every": "10m"}, {"cron": "0 9 * * mon-fri", "timezone": "Europe/Paris"}],
        json_schema_extra=_patch_schema(),
    ),
]


def _check_known(patch: dict[str, Any], document: type[Document]) -> None:
    """Null takes a field away, and a field that is none is refused with null as with any value."""
    if unknown := [name for name in patch if name not in document.model_fields]:
        forbidden = {"type": "extra_forbidden", "msg": ""}
        errors = ({**forbidden, "loc": (name,), "input": patch[name]} for name in unknown)
        raise InvalidFields(field_errors(errors))


@dataclass(frozen=True, slots=True)
class _MergePatch:
    patch: dict[str, Any]

    @property
    def fields(self) -> list[str]:
        return sorted(self.patch)


class JobMergePatch(_MergePatch):
    def applied_to(self, definition: JobDefinition) -> JobDefinition:
        present = job_document(definition)
        patched = {**present, **self.patch}
        if "planner" in self.patch:
            planner = patched_planner(present.get("planner", {}), self.patch["planner"])
            patched["planner"] = planner
        _check_known(self.patch, JobFields)
        document = {name: value for name, value in patched.items() if value is not None}
        return read_job_fields(validated(JobFields, document))


class EndpointMergePatch(_MergePatch):
    def applied_to(self, definition: EndpointDefinition) -> EndpointDefinition:
        _check_known(self.patch, EndpointDocument)
        document = merged(endpoint_document(definition), self.patch)
        wanted = read_endpoint(validated(EndpointDocument, document))
        headers: dict[str, Any] = self.patch.get("secret_headers") or {}
        named = [*headers, *(["password"] if "password" in self.patch else [])]
        return replace(wanted, target=leaving_secrets(wanted.target, definition.target, named))


class DraftBody(Document):
    """The schedule of an endpoint that is not saved: one of every, cron, on_demand; guardrails."""

    every: Duration | None = None
    cron: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    timezone: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    on_demand: bool | None = None
    min_interval: Duration | None = None
    max_interval: Duration | None = None

    def parsed(self) -> EndpointDefinition:
        written = self.model_dump(exclude_none=True)
        return read_endpoint(EndpointDocument(name="draft", url=NOWHERE, **written))


NewDraft = Annotated[DraftBody, Body(examples=[{"cron": "0 9 * * mon-fri", "timezone": "UTC"}])]


# --- Steering ---------------------------------------------------------------------------------


class PauseBody(Document):
    until: Instant | None = Field(default=None, description="Left out or null: until resumed.")
    reason: Reason = ""


class StopPlannerBody(Document):
    reason: Reason = ""


class BulkBody(Document):
    action: Annotated[BulkAction, Field(strict=False)]
    endpoint_ids: Annotated[
        list[Annotated[UUID, Field(strict=False)]],
        Field(min_length=1, max_length=MOST_ENDPOINTS),
    ]
    until: Instant | None = Field(
        default=None, description="Of a pause; left out or null: until resumed."
    )
    reason: Reason = ""


class MatchingBody(Document):
    """What fits all of these; those that are left out are not asked."""

    action: Annotated[BulkAction, Field(strict=False)]
    expected: int = Field(
        ge=0, le=MOST_MATCHES, description="How many were seen to match: not more are acted on."
    )
    job_id: Annotated[UUID | None, Field(strict=False)] = None
    search: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    state: Annotated[EndpointState | None, Field(strict=False)] = None
    until: Instant | None = Field(
        default=None, description="Of a pause; left out or null: until resumed."
    )
    reason: Reason = ""

    @property
    def criteria(self) -> EndpointSearch:
        return EndpointSearch(job_id=self.job_id, search=self.search, state=self.state)


class IntervalHintBody(Document):
    interval: Duration
    ttl: Duration = "1h"
    reason: Reason = ""

    def parsed(self) -> tuple[timedelta, timedelta]:
        """The interval, and how long it holds."""
        interval = _between("interval", self.interval, MIN_INTERVAL, MAX_INTERVAL)
        return interval, _between("ttl", self.ttl, MIN_TTL, LONGEST_TTL)


class OneShotHintBody(Document):
    """One of `at` and `in`."""

    at: Instant | None = None
    within: Duration | None = Field(default=None, alias="in", description="From now.")
    ttl: Duration = "30m"
    reason: Reason = ""

    def parsed(self) -> tuple[datetime | timedelta, timedelta]:
        """When to run, as an instant or from now, and how long the hint holds after that."""
        if (self.at is None) == (self.within is None):
            raise InvalidInput("at", str(self.at), "give `at` or `in`, one of the two")
        when = parse_duration(self.within) if self.within is not None else self.at
        assert when is not None
        return when, _between("ttl", self.ttl, MIN_TTL, LONGEST_TTL)

    @property
    def written(self) -> str:
        return str(self.at or self.within)


def _between(field: str, written: int | str, least: timedelta, most: timedelta) -> timedelta:
    duration = parse_duration(written)
    if not least <= duration <= most:
        raise InvalidInput(field, written, f"from {humanize(least)} to {humanize(most)}")
    return duration


NewOneShotHint = Annotated[OneShotHintBody, Body(examples=[{"in": "10m"}])]


class AcceptBody(Document):
    call: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=None,
        examples=[0],
        description="The place of the call in the session, from 0; left out: the one call that it "
        "suggests.",
    )


# --- Accounts ---------------------------------------------------------------------------------


class TenantBody(Document):
    name: Name
    retention_days: RetentionDays | None = Field(
        default=None, description="Shorter than the installation's; left out: the same."
    )


class TenantPatchBody(Document):
    """What is left out stays as it is."""

    retention_days: RetentionDays | None = None
    rules_mode: ModeWord | None = Field(
        default=None, description="What declared rules may do: off, advise or act."
    )
    detectors_mode: ModeWord | None = Field(default=None, description="The same of detectors.")
    llm_mode: ModeWord | None = Field(
        default=None, description="The same of a model; a job's own mode comes before all three."
    )
    planner_account_id: Annotated[UUID, Field(strict=False)] | None = Field(
        default=None,
        description="The account that pays for sessions of a model about jobs that name none;"
        " null: the installation pays.",
    )


class UserBody(Document):
    name: Name


class FirstKeyBody(Document):
    name: Name = "first"
    scopes: Scopes = Field(default_factory=lambda: [Scope.ADMIN])


class JobKeyBody(Document):
    name: Name
    scopes: Scopes = Field(description="read, operate, admin; each may do what those before may.")
    expires_at: Instant | None = Field(
        default=None, description="From then on it opens nothing; left out: until it is revoked."
    )


class KeyBody(JobKeyBody):
    user_id: Annotated[UUID, Field(strict=False)] | None = Field(
        default=None, description="Whom it acts for; yourself where it is left out."
    )
    job_ids: list[Annotated[UUID, Field(strict=False)]] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_JOBS,
        description="It sees and touches only these jobs; left out: what its user may.",
    )


class JobRoleBody(Document):
    job_id: Annotated[UUID, Field(strict=False)]
    role: RoleWord


class AccessBody(Document):
    model_config = ConfigDict(json_schema_extra={"examples": [{"role": "viewer"}]})

    role: RoleWord | None = Field(
        default=None, description="In the whole tenant; left out: only for single jobs."
    )
    jobs: list[JobRoleBody] = Field(
        default_factory=list[JobRoleBody],
        max_length=MOST_JOBS,
        description="Roles for single jobs: viewer, operator or owner.",
    )

    def access(self) -> Access:
        roles = {single.job_id: single.role for single in self.jobs}
        if len(roles) < len(self.jobs):
            raise InvalidInput("jobs", len(self.jobs), "each job once")
        return Access(self.role, roles)


class _Invited(Document):
    email: str = Field(min_length=3, max_length=LONGEST_EMAIL, examples=["ada@example.org"])
    lasts: Duration | None = Field(
        default=None, description="How long its link works: 7 days where left out, at most 30."
    )

    def parsed_lasts(self) -> timedelta:
        return INVITATION_LASTS if self.lasts is None else parse_duration(self.lasts)


class InvitationBody(_Invited, AccessBody):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"email": "eve@example.org", "role": "viewer"}]}
    )


class RoleBody(Document):
    role: RoleWord = Field(description="For this job: viewer, operator or owner.")


class JobInvitationBody(_Invited, RoleBody):
    pass


class KeyRotationBody(Document):
    overlap: Duration | None = Field(
        default=None, description="How long the old one still works; not at all where left out."
    )

    def parsed(self) -> timedelta:
        overlap = parse_duration(self.overlap) if self.overlap is not None else timedelta(0)
        if overlap > MAX_OVERLAP:
            raise InvalidInput("overlap", self.overlap, f"at most {MAX_OVERLAP.days} days")
        return overlap


class SigningKeyBody(Document):
    overlap: Duration | None = Field(
        default=None,
        description=f"How long the one before it signs too; {format_duration(DEFAULT_OVERLAP)} "
        "where it is left out. A leaked key is replaced with `no_overlap`.",
    )
    no_overlap: bool = Field(default=False, description="End all keys before it at once.")

    def parsed(self) -> timedelta:
        overlap = DEFAULT_OVERLAP if self.overlap is None else parse_duration(self.overlap)
        return timedelta(0) if self.no_overlap else overlap
