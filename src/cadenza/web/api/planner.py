"""The planner of a tenant as a whole: stopped everywhere with one call, and started again."""

from cadenza.web.api.access import Admin, ApiDependencies, InstallationDependencies, Reader
from cadenza.web.api.parsing.bodies import StopPlannerBody
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.planner import (
    PlannerSwitchResponse,
    SwitchedResponse,
    planner_switch_response,
)

routes = router("Planner", "/planner")
installation_routes = router("Planner", "/installation/planner")


@routes.get("")
async def get_planner(caller: Reader, dependencies: ApiDependencies) -> PlannerSwitchResponse:
    """What it may do where a job has no modes of its own, and whether it is stopped."""
    return planner_switch_response(*await dependencies.planner_switch.state(caller.tenant_id))


@routes.post("/stop")
async def stop_planner(
    body: StopPlannerBody, caller: Admin, dependencies: ApiDependencies
) -> PlannerSwitchResponse:
    """No rule, detector or model acts or advises, whatever modes a job has. Hints in force expire
    by themselves. What the modes were is kept until the start."""
    await dependencies.planner_switch.stop(caller, body.reason)
    return planner_switch_response(*await dependencies.planner_switch.state(caller.tenant_id))


@routes.post("/start")
async def start_planner(caller: Admin, dependencies: ApiDependencies) -> PlannerSwitchResponse:
    """With exactly the modes that were, but for those that somebody has set since."""
    await dependencies.planner_switch.start(caller)
    return planner_switch_response(*await dependencies.planner_switch.state(caller.tenant_id))


@installation_routes.post("/stop")
async def stop_every_planner(
    body: StopPlannerBody, dependencies: InstallationDependencies
) -> SwitchedResponse:
    """In every tenant."""
    return SwitchedResponse.model_validate(await dependencies.planner_switch.stop_all(body.reason))


@installation_routes.post("/start")
async def start_every_planner(dependencies: InstallationDependencies) -> SwitchedResponse:
    """In the tenants that were stopped from here; one that has stopped its own stays stopped."""
    return SwitchedResponse.model_validate(await dependencies.planner_switch.start_all())
