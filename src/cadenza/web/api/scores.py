"""The score of a job: why everything ran when it ran."""

from uuid import UUID

from cadenza.application.scores import ScoreQuery
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso
from cadenza.domain.score import LONGEST_RANGE, RUNS_OF_A_LANE
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.cursors import read_cursor
from cadenza.web.api.parsing.query import (
    Cursor,
    From,
    LaneCount,
    LaneIds,
    RunsOfALane,
    To,
    ValueChoices,
    WithFields,
    check_order,
    read_choices,
)
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.score import ScoreResponse, score_response

routes = router("Score")


@routes.get("/jobs/{job_id}/score")
async def get_score(
    job_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    from_at: From = None,
    to: To = None,
    lanes: LaneCount = 50,
    endpoint: LaneIds = None,
    runs: RunsOfALane = RUNS_OF_A_LANE,
    cursor: Cursor = None,
    value: ValueChoices = None,
    fields: WithFields = False,
) -> ScoreResponse:
    """Runs with what bent them: hints and pauses with author and reason, flags, what is planned and
    what the baseline alone would do, and two values of the answers. At most 31 days of it."""
    query = ScoreQuery(
        from_at,
        to,
        tuple(endpoint or ()),
        read_cursor(cursor),
        lanes,
        runs,
        read_choices(value),
        fields,
    )
    begins, ends = query.span(dependencies.around.clock.now())
    check_order(begins, ends)
    if ends - begins > LONGEST_RANGE:
        raise InvalidInput("from", iso(begins), "at most 31 days before `to`")
    return score_response(await dependencies.scores.of_job(caller.tenant_id, job_id, query))
