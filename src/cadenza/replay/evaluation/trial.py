"""One look of a brain at a scenario: real tools and governor, in memory, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.brain import Brain
from cadenza.application.steering import Steering
from cadenza.application.tools import Toolbox
from cadenza.domain.access import Caller, Scope
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InstallationError
from cadenza.domain.instants import from_iso
from cadenza.domain.session import Session
from cadenza.replay.evaluation.scenario import LOOKED_AT, EarlierDocument, Scenario
from cadenza.replay.purse import Purse
from cadenza.replay.stage import Stage, staged

_KINDS = {"model": "llm", "detector": "rules"}


@dataclass(frozen=True, slots=True)
class Trial:
    """Endpoints before and after the look, when each ran after it, and the session itself."""

    scenario: Scenario
    before: Mapping[str, Endpoint]
    after: Mapping[str, Endpoint]
    runs: Mapping[str, Sequence[datetime]]
    session: Session


async def hold_trial(scenario: Scenario, brain: Brain, purse: Purse) -> Trial:
    stage = await staged(scenario.job, scenario.histories, scenario.begin)
    for earlier in sorted(scenario.document.earlier, key=lambda earlier: -earlier.ago):
        await stage.live_until(LOOKED_AT - earlier.ago)
        await _do(stage, earlier)
    await stage.live_until(LOOKED_AT)
    before = _endpoints(stage)
    known = {name: set(stage.probes(name)) for name in before}
    queue, looked = stage.memory.analysis_queue, before[scenario.document.look_at]
    (context,) = await queue.contexts_for([looked.id], "llm")
    session = await stage.planner(brain, purse).analyse(context)
    if not isinstance(session, Session):
        raise InstallationError(f"{scenario.name}: no session was held ({session})")
    after = _endpoints(stage)
    await stage.live_until(LOOKED_AT + scenario.document.live_on_for)
    runs = {name: [at for at in stage.probes(name) if at not in known[name]] for name in after}
    return Trial(scenario, before, after, runs, session)


def _endpoints(stage: Stage) -> dict[str, Endpoint]:
    return {row.endpoint.name: row.endpoint for row in stage.tables.endpoints.values()}


async def _do(stage: Stage, earlier: EarlierDocument) -> None:
    endpoint = stage.endpoint(earlier.endpoint)
    if earlier.by == "person":
        await _by_hand(stage, endpoint, earlier)
        return
    memory, kind = stage.memory, _KINDS[earlier.by]
    (context,) = await memory.analysis_queue.contexts_for([endpoint.id], kind)
    stores = (memory.store, memory.analysis_queue, stage.clock, stage.cron)
    tools = Toolbox(context, *stores, session_id=new_id(), brain=kind)
    answer = await tools.call(earlier.tool, earlier.arguments)
    if not answer["ok"]:
        raise InstallationError(f"{earlier.tool} before the look: {answer['error']}")


async def _by_hand(stage: Stage, endpoint: Endpoint, earlier: EarlierDocument) -> None:
    owner = Caller(endpoint.tenant_id, new_id(), new_id(), "owner", (Scope.OPERATE,))
    steering, asked = Steering(stage.memory.store, stage.cron), earlier.arguments
    if earlier.tool == "pause_until":
        until_at = from_iso(asked["until_iso"])
        await steering.pause(owner, endpoint.id, until_at, asked["reason"])
    else:
        interval = timedelta(milliseconds=asked["interval_ms"])
        ttl = timedelta(minutes=asked["ttl_minutes"])
        await steering.hint_interval(owner, endpoint.id, interval, ttl, asked["reason"])
