"""The planner of a tenant as a whole, as it is sent."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from cadenza.domain.planner_stop import PlannerStop
from cadenza.domain.rule import Mode, Modes
from cadenza.web.api.schemas.base import ResponseSchema


class ModesResponse(ResponseSchema):
    rules: Mode = Field(description="Of declared rules.")
    detectors: Mode
    llm: Mode = Field(description="Of a model.")


class PlannerStopResponse(ResponseSchema):
    stopped_at: datetime
    stopped_by: UUID | None = Field(description="The user; null: the installation's admin.")
    reason: str
    modes: ModesResponse = Field(description="The tenant's, which a start gives back.")
    jobs: int = Field(description="How many had modes of their own, which a start gives back.")


class PlannerSwitchResponse(ResponseSchema):
    modes: ModesResponse = Field(description="Where a job has no modes of its own.")
    stop: PlannerStopResponse | None = Field(description="null: it is not stopped.")


class SwitchedResponse(ResponseSchema):
    """What changed in all tenants."""

    tenants: int
    jobs: int


def planner_switch_response(modes: Modes, stop: PlannerStop | None) -> PlannerSwitchResponse:
    return PlannerSwitchResponse(
        modes=ModesResponse.model_validate(modes),
        stop=None if stop is None else _stop_response(stop),
    )


def _stop_response(stop: PlannerStop) -> PlannerStopResponse:
    return PlannerStopResponse(
        stopped_at=stop.stopped_at,
        stopped_by=stop.stopped_by,
        reason=stop.reason,
        modes=ModesResponse.model_validate(stop.modes),
        jobs=len(stop.jobs),
    )
