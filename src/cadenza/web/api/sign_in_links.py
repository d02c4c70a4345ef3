"""Links that sign their owner in to the dashboard, once and within a minute."""

from datetime import datetime

from pydantic import Field

from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.base import ResponseSchema

routes = router("Sign-in links", "/sign-in-links")


class SignInLinkResponse(ResponseSchema):
    path: str = Field(description="To be opened in a browser, at the address of this API.")
    expires_at: datetime


@routes.post("", status_code=201)
async def create_sign_in_link(caller: Reader, dependencies: ApiDependencies) -> SignInLinkResponse:
    """Who opens it is signed in as you, with the scopes of this key."""
    token, expires_at = await dependencies.sign_ins.create_link(caller)
    return SignInLinkResponse(path=f"/sign-in/{token}", expires_at=expires_at)
