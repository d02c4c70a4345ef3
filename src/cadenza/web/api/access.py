"""Whose request it is. Tenant isolation begins here: only the caller tells a route its tenant."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Response, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from cadenza.application.present import note_tenant
from cadenza.domain.access import Caller, Scope
from cadenza.domain.errors import NotAllowed
from cadenza.web.api.dependencies import (
    Dependencies,
    dependencies_of,
    dependencies_of_caller,
)
from cadenza.web.api.known_keys import ADMIN_SCHEME, check_admin_key
from cadenza.web.api.problems import SEND_A_KEY, UNKNOWN_KEY, TooManyRequests, Unauthorised

_bearer = HTTPBearer(
    auto_error=False, scheme_name="ApiKey", description="A key of a user: `cdz_…`."
)
_admin_bearer = HTTPBearer(
    auto_error=False, scheme_name=ADMIN_SCHEME, description="The installation admin's key."
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
AdminCredentials = Annotated[HTTPAuthorizationCredentials | None, Security(_admin_bearer)]
ApiDependencies = Annotated[Dependencies, Depends(dependencies_of_caller)]


OF_A_ROLE = {
    Scope.READ: "and a role in the tenant",
    Scope.OPERATE: "of somebody who is an operator or owner",
    Scope.ADMIN: "of somebody who is an owner",
}


def _caller(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    # One dependency, not a chain of them: the framework spends longer on each than this does.
    async def caller(request: Request, response: Response, credentials: Credentials) -> Caller:
        if credentials is None:
            raise Unauthorised(SEND_A_KEY)
        dependencies = await dependencies_of(request)
        around = dependencies.around
        known = await dependencies.authentication.caller_of(credentials.credentials)
        if known is None:
            why = await dependencies.authentication.why_not(credentials.credentials)
            raise Unauthorised(why or UNKNOWN_KEY)
        allowance = around.rate_limit.take(known.key_id, around.monotonic())
        if not allowance.allowed:
            raise TooManyRequests(
                f"the limit is {allowance.limit} requests a minute for one key", allowance.headers
            )
        response.headers.update(allowance.headers)
        request.state.caller = known
        note_tenant(known.tenant_id)
        if not known.may(scope):
            raise NotAllowed(f"this needs a key with the scope {scope}, {OF_A_ROLE[scope]}")
        return known

    return caller


Reader = Annotated[Caller, Depends(_caller(Scope.READ))]
Operator = Annotated[Caller, Depends(_caller(Scope.OPERATE))]
Admin = Annotated[Caller, Depends(_caller(Scope.ADMIN))]


_reader = _caller(Scope.READ)


async def reader_of(request: Request, response: Response) -> Caller:
    """Outside the framework's routes."""
    return await _reader(request, response, await _bearer(request))


async def _for_installation_admin(
    dependencies: ApiDependencies, credentials: AdminCredentials
) -> Dependencies:
    check_admin_key(credentials.credentials if credentials else "", dependencies)
    return dependencies


# Only for who runs the installation; a tenant's key, even with the scope admin, does not do.
InstallationDependencies = Annotated[Dependencies, Depends(_for_installation_admin)]
