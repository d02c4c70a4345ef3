"""The next runs of a schedule that somebody is typing."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.web.api.parsing.bodies import DraftBody, validated
from cadenza.web.dashboard.forms import Problems, problems_of
from cadenza.web.dashboard.pages.endpoint_forms import FIELDS, schedule_document
from cadenza.web.dashboard.rendering import fragment
from cadenza.web.dashboard.visitor import PageDependencies, Reader, Sent

routes = APIRouter()
AHEAD = 5


@routes.post("/drafts/preview")
async def preview_draft(
    request: Request, form: Sent, _visitor: Reader, dependencies: PageDependencies
) -> Response:
    upcoming, warnings, problems = [], [], Problems()
    try:
        definition = validated(DraftBody, schedule_document(form)).parsed()
        now = dependencies.around.clock.now()
        upcoming, warnings = await dependencies.outlook.preview_draft(definition, now, AHEAD)
    except (InvalidInput, InvalidFields) as error:
        problems = problems_of(error, FIELDS)
    return await fragment(
        request,
        "endpoints/draft.html",
        upcoming=upcoming,
        warnings=warnings,
        problems=problems,
        zone_name=form.optional("timezone") if form.text("baseline") == "cron" else None,
    )
