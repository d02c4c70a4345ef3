"""For those who watch this process: whether it lives, and whether it can work."""

from typing import Literal

from fastapi import APIRouter, Response

from cadenza.web.api.access import ApiDependencies
from cadenza.web.api.schemas import Shown

routes = APIRouter(tags=["Probes"])


class Alive(Shown):
    alive: Literal[True] = True


class Ready(Shown):
    ready: bool
    parts: dict[str, str]


@routes.get("/healthz")
async def healthz() -> Alive:
    """The process answers."""
    return Alive()


@routes.get("/readyz", responses={503: {"model": Ready, "description": "Something is missing."}})
async def readyz(response: Response, dependencies: ApiDependencies) -> Ready:
    """The database answers, and its schema is the one that this version needs."""
    checked = await dependencies.reads.readiness.check()
    ready = all(each == "ok" for each in checked.values())
    response.status_code = 200 if ready else 503
    return Ready(ready=ready, parts=dict(checked))
