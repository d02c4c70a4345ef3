"""Living a life: the worker's own code over the memory store, in simulated time."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.adapters.simulated.time import SimulatedClock, run_simulated
from cadenza.application.ports.events import Event
from cadenza.application.ports.store import Channel
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.domain.endpoint import CronLine, Every, Job
from cadenza.domain.errors import CadenzaError
from cadenza.domain.run import Claim, Outcome
from cadenza.domain.target import HttpTarget
from tests.chaos.history import CLOCK, STOP, Fault, History, OwnedRow, Spec
from tests.chaos.life import START, STORE_FAULTS, Act, Life, Probe
from tests.chaos.sim_receiver import Receiver
from tests.chaos.sim_store import Journal, Wire, WiredQueue, new_queue
from tests.chaos.steering_acts import transition_of
from tests.chaos.stepping import Node, step_tasks
from tests.direct import Direct
from tests.factories import CRON, make_endpoint, seconds

TIMEOUT = 8.0  # of a target
QUIET = 20.0  # seconds at the end without a fault


@dataclass(slots=True)
class LaggingClock:
    """A worker's: behind the store's by what an answer takes, never ahead."""

    clock: SimulatedClock
    lag: timedelta

    def now(self) -> datetime:
        return self.clock.now() - self.lag

    async def sleep(self, duration: timedelta) -> None:
        await self.clock.sleep(duration)


class Silence:
    def wants(self, _kind: str) -> bool:
        return False

    def emit(self, event: Event) -> None:
        raise AssertionError("nobody wanted it")


@dataclass(slots=True)
class Calls:
    receiver: Receiver
    node: Node

    async def dispatch(self, claim: Claim) -> Outcome:
        return await self.receiver.ask(claim, self.node)


@dataclass(slots=True)
class Running:
    """One worker: its process, its program and its wire."""

    node: Node
    scheduler: Scheduler
    task: asyncio.Task[None]
    wire: Wire


class World:
    def __init__(self, life: Life, crash_at: int | None = None) -> None:
        self.life = life
        self.crash_at = crash_at  # the step at which the first worker dies
        self.clock = SimulatedClock(START)
        self.chance = SeededChance(life.seed)
        self.tables = Tables(self.clock, self.chance.new_id)
        self.journal = Journal(self.tables)
        self.store = MemoryStores(self.tables).store
        self.direct = Direct(self.store, CRON)
        self.receiver = Receiver(self.clock, self.chance)
        self.faults: list[Fault] = []
        self.workers: list[Running] = []
        self.nodes: list[Node] = []
        self.specs: dict[UUID, Spec] = {}
        self.wakes = 1  # how often a notification is told
        self.ended_at = START
        self.steps = 0  # that the first worker had taken when it became quiet

    # --- What there is --------------------------------------------------------------------

    async def furnish(self) -> None:
        for number, probe in enumerate(self.life.probes):
            await self._add(number, probe)
        self.journal.note()

    async def _add(self, number: int, probe: Probe) -> None:
        tenant_id = self.chance.id_of(f"tenant {probe.tenant}")
        job_id = self.chance.id_of(f"job {probe.tenant}")
        every = seconds(probe.every) if probe.every is not None else None
        baseline = Every(every) if every else CronLine(probe.cron or "", probe.timezone)
        await self.direct.add_tenant(tenant_id)
        await self.direct.add_job(Job(job_id, tenant_id, f"job {probe.tenant}"))
        endpoint = make_endpoint(
            f"probe {number}",
            id=self.chance.id_of(f"probe {number}"),
            tenant_id=tenant_id,
            job_id=job_id,
            baseline=baseline,
            created_at=self.clock.now(),
            spread=seconds(3),
        )
        target = HttpTarget(f"http://host-{number}.example/", timeout=seconds(TIMEOUT))
        await self.direct.add_endpoint(endpoint, target)
        self.receiver.probes[endpoint.id] = probe
        self.specs[endpoint.id] = Spec(
            endpoint.id,
            tenant_id,
            endpoint.name,
            endpoint.created_at,
            every,
            probe.cron,
            probe.timezone,
            probe.plain,
        )

    def start(self, index: int) -> Running:
        node = Node(f"worker {index}")
        if index == 0 and not self.nodes:
            node.crash_at = self.crash_at
        self.nodes.append(node)
        options = SchedulerOptions(
            lease=seconds(self.life.lease), tick=seconds(1), stop_grace=seconds(5)
        )
        wire = Wire()
        limit, lag = options.store_limit, seconds(0.005 * (index + 1))
        queue = WiredQueue(new_queue(self.tables), self.journal, wire, self.chance, limit)
        calls = Calls(self.receiver, node)
        clock = LaggingClock(self.clock, lag)
        scheduler = Scheduler(node.name, queue, calls, clock, Silence(), options)
        node.on_death.append(lambda: self._died(node))
        self.tables.listen(Channel.DUE, lambda: self._wake(scheduler, node))
        return Running(node, scheduler, node.run(scheduler.run()), wire)

    def _wake(self, scheduler: Scheduler, node: Node) -> None:
        for _ in range(0 if node.dead else self.wakes):
            scheduler.wake()

    def _died(self, node: Node) -> None:
        self.receiver.hang_up(node)
        now = asyncio.get_running_loop().time()
        self.faults.append(Fault("crash", now, now))

    # --- What happens ---------------------------------------------------------------------

    async def live(self) -> None:
        step_tasks(asyncio.get_running_loop())
        await self.furnish()
        self.workers = [self.start(index) for index in range(self.life.workers)]
        acting = [asyncio.create_task(self._act(act)) for act in self.life.acts]
        await asyncio.sleep(self.life.seconds)
        await asyncio.gather(*acting)
        self.steps = self.nodes[0].steps
        for index, running in enumerate(self.workers):
            if running.node.dead:
                self.workers[index] = self.start(index)
        await asyncio.sleep(QUIET)
        self.ended_at = self.clock.now()
        for running in self.workers:
            running.scheduler.stop()
        await asyncio.gather(*(running.task for running in self.workers), return_exceptions=True)
        self.journal.note()
        self.receiver.close_all()

    async def _act(self, act: Act) -> None:
        await asyncio.sleep(act.at)
        began = asyncio.get_running_loop().time()
        indexes = range(self.life.workers) if act.worker < 0 else [act.worker]
        if act.kind in ("crash", "stop", "restart", *STORE_FAULTS):
            await asyncio.gather(*(self._harm(act, index) for index in indexes))
        elif act.kind == CLOCK:
            by = act.amount * 30 if act.amount > 0.5 else -act.amount * 6
            self.clock.step(seconds(by))
            await asyncio.sleep(self.life.lease)  # leases of before end too early, or too late
        elif act.kind.startswith("wakes"):
            self.wakes = 2 if act.kind == "wakes doubled" else 0
            await asyncio.sleep(act.length)
            self.wakes = 1
        else:
            await self._steer(act)
            return
        ended = asyncio.get_running_loop().time()
        self.faults.append(Fault(act.kind, began, ended))

    async def _harm(self, act: Act, index: int) -> None:
        running = self.workers[index]
        if running.node.dead:
            return
        if act.kind == "crash":
            # at some step or other of those that it takes next
            running.node.crash_at = running.node.steps + 1 + int(act.amount * 100)
            await asyncio.sleep(act.length)
            running.node.die()
            self.workers[index] = self.start(index)
        elif act.kind == "restart":
            running.scheduler.stop()
            await asyncio.gather(running.task, return_exceptions=True)
            self.workers[index] = self.start(index)
        elif act.kind == STOP:
            running.node.freeze()
            await asyncio.sleep(act.length)
            running.node.thaw()
        else:
            running.wire.fault = act.kind
            await asyncio.sleep(act.length)
            running.wire.fault = None

    async def _steer(self, act: Act) -> None:
        spec = list(self.specs.values())[act.endpoint]
        transition = transition_of(act.kind, act.amount, act.length)
        with suppress(CadenzaError):  # refused, as it may be
            await self.direct.change_endpoint(spec.tenant_id, spec.endpoint_id, transition)
        self.journal.note()

    def history(self) -> History:
        tables, lease = self.tables, seconds(self.life.lease)
        owned = [OwnedRow("runs", run.tenant_id, run.endpoint_id) for run in tables.runs.values()]
        return History(
            specs=self.specs,
            began_at=START,
            ended_at=self.ended_at,
            lease=lease,
            bound=lease + seconds(5),
            longest_run=seconds(TIMEOUT),
            deliveries=self.receiver.deliveries,
            runs=list(tables.runs.values()),
            lost_attempts=[each for lost in tables.lost_attempts.values() for each in lost],
            late_results=[each for late in tables.late_results.values() for each in late],
            endpoint_versions=self.journal.endpoints,
            run_versions=self.journal.runs,
            owned_rows=owned,
            faults=self.faults,
        )


def live(life: Life, crash_at: int | None = None) -> tuple[History, World]:
    world = World(life, crash_at)
    run_simulated(world.live())
    for node in world.nodes:
        node.bury()
    return world.history(), world
