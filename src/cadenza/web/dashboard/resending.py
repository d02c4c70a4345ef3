"""A form that was sent after its sign-in had ended: nothing that was typed is lost."""

from fastapi import Request
from starlette.responses import Response

from cadenza.web.dashboard.forms import read_form
from cadenza.web.dashboard.query import with_query
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import FORM_TOKEN


def can_resend(request: Request) -> bool:
    """Only what a page of ours has sent, as the browser says itself, is shown again."""
    return request.method == "POST" and request.headers.get("sec-fetch-site") == "same-origin"


async def resend_page(request: Request, status: int) -> Response:
    form = await read_form(request)
    fields = [
        (name, value)
        for name, values in form.chosen.items()
        for value in values
        if name != FORM_TOKEN
    ]
    return await page(
        request, "resend.html", status=status, fields=fields, action=with_query(request)
    )
