"""The workers of the installation: who lives, in which version, with how much to do."""

from cadenza.web.api.access import Admin, ApiDependencies
from cadenza.web.api.parsing.query import Few
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.workers import WorkersResponse, worker_response

routes = router("Workers", "/workers")


@routes.get("")
async def list_workers(
    _: Admin, dependencies: ApiDependencies, limit: Few = 100
) -> WorkersResponse:
    """Schedulers, planners and graph workers, those that live first. They belong to the
    installation, and have nothing of any tenant in them."""
    workers = await dependencies.reads.workers.list_workers(limit)
    return WorkersResponse(items=[worker_response(worker) for worker in workers])
