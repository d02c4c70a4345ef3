"""What applying a manifest changed, as it is sent."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from cadenza.application.manifests import AnyChange
from cadenza.domain.difference import ChangeKind
from cadenza.domain.schedule_difference import ScheduleChange
from cadenza.manifest.difference_view import field_changes, schedule_field_changes
from cadenza.web.api.schemas.base import ResponseSchema


class FieldChangeResponse(ResponseSchema):
    field: str
    before: Any = None
    after: Any = None


class ChangeResponse(ResponseSchema):
    act: str = Field(description="create, update, archive; delete for schedules")
    job: str | None = Field(description="null: it is a schedule")
    endpoint: str | None = Field(description="null: the job itself, or a schedule")
    schedule: str | None = Field(description="null: it is a job or an endpoint")
    fields: list[FieldChangeResponse]


class WarningResponse(ResponseSchema):
    field: str
    text: str


class AppliedManifestResponse(ResponseSchema):
    dry_run: bool = Field(description="Whether nothing was written.")
    counts: dict[str, int] = Field(description="How many of each action.")
    changes: list[ChangeResponse] = Field(description="What is unchanged is only counted.")
    warnings: list[WarningResponse]


def applied_manifest_response(
    changes: Sequence[AnyChange], warnings: Sequence[tuple[str, str]], *, dry_run: bool
) -> AppliedManifestResponse:
    return AppliedManifestResponse(
        dry_run=dry_run,
        counts=Counter(str(change.kind) for change in changes),
        changes=[_change(change) for change in changes if change.kind is not ChangeKind.UNCHANGED],
        warnings=[WarningResponse(field=field, text=text) for field, text in warnings],
    )


def _change(change: AnyChange) -> ChangeResponse:
    if isinstance(change, ScheduleChange):
        fields = schedule_field_changes(change)
        return ChangeResponse(
            act=change.kind,
            job=None,
            endpoint=None,
            schedule=change.name,
            fields=[FieldChangeResponse.model_validate(field) for field in fields],
        )
    return ChangeResponse(
        act=change.kind,
        job=change.job,
        endpoint=change.endpoint,
        schedule=None,
        fields=[FieldChangeResponse.model_validate(field) for field in field_changes(change)],
    )
