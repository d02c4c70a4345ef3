"""What deleting takes away."""

from pydantic import Field

from cadenza.application.archive import MOST_COUNTED, Removal
from cadenza.web.api.schemas.base import ResponseSchema


class RemovalResponse(ResponseSchema):
    endpoints: int
    history: int = Field(
        description="Runs and sessions, with what hangs on them; a dry run counts "
        f"{MOST_COUNTED:,} at most."
    )
    done: bool = Field(
        description="false: there is more than one request deletes; send the same again."
    )


def removal_response(removal: Removal) -> RemovalResponse:
    return RemovalResponse.model_validate(removal)
