"""The request bodies about schedules and their runs, and what they mean."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body
from pydantic import Field

from cadenza.application.schedule_changes import NewSchedule
from cadenza.domain.errors import InvalidInput
from cadenza.domain.schedule import ScheduleDefinition
from cadenza.manifest.models import Document, ScheduleFields
from cadenza.manifest.schedules import read_schedule, schedule_document
from cadenza.web.api.parsing.bodies import inlined, validated

Id = Annotated[UUID, Field(strict=False)]
FIXED = ("graph_id", "grant_id", "account_id")


class ScheduleBody(ScheduleFields):
    grant_id: Id | None = Field(
        default=None, description="One that you gave; left out, one is made for the schedule."
    )
    account_id: Id | None = Field(
        default=None, description="Who pays, where no grant is named; left out: the only account."
    )

    def parsed(self) -> NewSchedule:
        if self.grant_id is not None and self.account_id is not None:
            fix = "give `grant_id`, which has its account, or `account_id`, not both"
            raise InvalidInput("account_id", str(self.account_id), fix)
        return NewSchedule(read_schedule(self), self.grant_id, self.account_id)


NewScheduleBody = Annotated[
    ScheduleBody,
    Body(
        examples=[
            {
                "name": "morning poem",
                "graph_id": "langgraph:poet",
                "input": {"topic": "autumn"},
                "cron": "0 9 * * mon-fri",
                "timezone": "Europe/Paris",
                "limits": {"time": "5m", "credits": 20_000},
            }
        ]
    ),
]


def _patch_schema() -> dict[str, Any]:
    schema = ScheduleFields.model_json_schema()
    properties = inlined(schema["properties"], schema["$defs"])
    changeable = {name: field for name, field in properties.items() if name not in FIXED}
    return {"properties": changeable, "additionalProperties": False}


SchedulePatchBody = Annotated[
    dict[str, Any],
    Body(
        description="A JSON merge patch: fields that are left out stay, null takes one away. "
        "Limits are merged one by one; an input replaces the present one. Graph, grant and account "
        "cannot be changed.",
        examples=[{"enabled": False}, {"cron": "0 9 * * *", "limits": {"time": "5m"}}],
        json_schema_extra=_patch_schema(),
    ),
]


@dataclass(frozen=True, slots=True)
class ScheduleMergePatch:
    patch: dict[str, Any]

    @property
    def fields(self) -> list[str]:
        return sorted(self.patch)

    def applied_to(self, definition: ScheduleDefinition) -> ScheduleDefinition:
        for name in FIXED:
            if name in self.patch:
                fix = "it cannot be changed; create another schedule"
                raise InvalidInput(name, self.patch[name], fix)
        present = schedule_document(definition)
        document = {**present, **self.patch}
        if isinstance(self.patch.get("limits"), dict):
            document["limits"] = {**present.get("limits", {}), **self.patch["limits"]}
        written = {name: value for name, value in document.items() if value is not None}
        return read_schedule(validated(ScheduleFields, written))


class AnswerBody(Document):
    answer: Any = Field(
        description="To what the run asked: any JSON, at most 64 KiB.",
        examples=[{"approved": True}],
    )
