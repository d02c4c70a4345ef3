"""Results of runs that wait for them, reported by whoever did the work."""

import json
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Security
from fastapi.security import APIKeyHeader
from pydantic import Field

from cadenza.domain.errors import InvalidInput
from cadenza.domain.result import MAX_MESSAGE, MAX_RESULT, Report
from cadenza.domain.run import RunStatus
from cadenza.manifest.models import Document
from cadenza.web.api.access import ApiDependencies
from cadenza.web.api.known_keys import TOKEN_HEADER, TOKEN_SCHEME
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.base import ResponseSchema

routes = router("Runs")
_token = APIKeyHeader(
    name=TOKEN_HEADER,
    scheme_name=TOKEN_SCHEME,
    auto_error=False,
    description="The one that came with the message or the request; no API key is needed.",
)
Token = Annotated[str | None, Security(_token)]


class ResultBody(Document):
    """How the work of a run went."""

    status: Literal["success", "failure"]
    body: Any = Field(
        default=None,
        description="Any JSON, up to 64 KiB: what rules and planner read as the response.",
        examples=[{"queue_depth": 12}],
    )
    message: Annotated[str, Field(max_length=MAX_MESSAGE)] | None = Field(
        default=None, description="Why it failed."
    )

    def parsed(self) -> Report:
        size = len(json.dumps(self.body, ensure_ascii=False).encode())
        if size > MAX_RESULT:
            raise InvalidInput("body", f"{size} bytes", f"{MAX_RESULT} bytes of JSON are the most")
        return Report(RunStatus(self.status), self.body, self.message)


class ResultResponse(ResponseSchema):
    run_id: UUID
    status: RunStatus = Field(description="As it was reported.")


@routes.post("/runs/{run_id}/result")
async def report_result(
    run_id: UUID, body: ResultBody, dependencies: ApiDependencies, token: Token
) -> ResultResponse:
    """The first report of a run counts. The same one again is answered the same, another one, and
    one for a run that has ended, is a 409; an unknown token or run is a 404."""
    report = body.parsed()
    await dependencies.results.report(run_id, token or "", report)
    return ResultResponse(run_id=run_id, status=report.status)
