"""For those who watch this process: whether it lives, and whether it can work."""

from functools import partial

from fastapi import APIRouter, Request, Response

from cadenza.web.api.access import ApiDependencies
from cadenza.web.api.known_keys import check_admin_key
from cadenza.web.api.observing import metrics_page
from cadenza.web.api.schemas.probes import AliveResponse, ReadyResponse

routes = APIRouter(tags=["Probes"])


@routes.get("/healthz")
async def healthz() -> AliveResponse:
    """The process answers."""
    return AliveResponse()


@routes.get(
    "/readyz", responses={503: {"model": ReadyResponse, "description": "Something is missing."}}
)
async def readyz(response: Response, dependencies: ApiDependencies) -> ReadyResponse:
    """The database answers, and its schema is the one that this version needs."""
    checks = await dependencies.reads.readiness.check()
    ready = all(result == "ok" for result in checks.values())
    response.status_code = 200 if ready else 503
    return ReadyResponse(ready=ready, parts=dict(checks))


@routes.get("/metrics", include_in_schema=False)
async def metrics(request: Request, dependencies: ApiDependencies) -> Response:
    """What this process has counted, for Prometheus."""
    check = partial(check_admin_key, dependencies=dependencies)
    return await metrics_page(request, dependencies, check)
