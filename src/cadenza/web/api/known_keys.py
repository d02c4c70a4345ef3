"""Whether anybody known sends a request, before its body is read; what they may do comes later."""

from hmac import compare_digest

from fastapi import Request

from cadenza.domain.access import hash_of
from cadenza.web.api.dependencies import Dependencies, dependencies_of
from cadenza.web.api.problems import UNKNOWN_KEY, Unauthorised

ADMIN_SCHEME = "OperatorKey"
TOKEN_SCHEME = "ResultToken"  # noqa: S105 - its name
TOKEN_HEADER = "Cadenza-Result-Token"  # noqa: S105


async def check_key(request: Request, *, is_admins: bool) -> None:
    """A user's key, or, where a route is the installation admin's, that one's."""
    _, _, token = request.headers.get("authorization", "").partition(" ")
    dependencies = await dependencies_of(request)
    if is_admins:
        check_admin_key(token, dependencies)
    elif await dependencies.authentication.caller_of(token) is None:
        raise Unauthorised(await dependencies.authentication.why_not(token) or UNKNOWN_KEY)


def check_admin_key(token: str, dependencies: Dependencies) -> None:
    admin_key_hash = dependencies.around.admin_key_hash
    if admin_key_hash is None or not compare_digest(hash_of(token), admin_key_hash):
        raise Unauthorised(
            "this needs the installation admin's key, `CADENZA_ADMIN_KEY` "
            "(or `CADENZA_OPERATOR_KEY`)"
        )
