"""What a user's program is made of, over any store: PostgreSQL, or one in memory for tests."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.functions.dispatcher import FunctionDispatcher
from cadenza.adapters.system.failing_runs import LoggingDispatcher
from cadenza.application.accounts import Tenants
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.executions import Load
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.graph_grants import GraphGrants
from cadenza.application.graph_targets import GraphTargets
from cadenza.application.manifests import Manifests
from cadenza.application.outlook import Outlook
from cadenza.application.ports.accounts import TenantReads
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.catalogue import EndpointReads
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.events import Events
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.steering_history import SteeringReads
from cadenza.application.ports.store import Store
from cadenza.application.program_runs import ProgramRuns
from cadenza.application.programs import Programs, Reconciled
from cadenza.application.schedule_changes import ScheduleChanges
from cadenza.application.schedule_manifests import ScheduleManifests
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.steering import Steering
from cadenza.application.watch import UNWATCHED, Watch
from cadenza.domain.function_target import FunctionTarget, runs_on
from cadenza.program.control import Control
from cadenza.program.declarations import Declarations

CRON = CronsimCron()


def make_programs(
    store: Store,
    tenants: TenantReads,
    billing: BillingReads,
    prices: Prices,
    new_id: Callable[[], UUID],
) -> Programs:
    grants = GraphGrants(prices, new_id)
    graphs = GraphTargets(grants, billing)
    schedules = ScheduleManifests(ScheduleChanges(grants, CRON), billing, new_id)
    manifests = Manifests(store, CRON, schedules, graphs, new_id)
    return Programs(store, manifests, Tenants(store, new_id, lambda: None), tenants, CRON)


async def declared(
    declarations: Declarations,
    programs: Programs,
    endpoints: EndpointReads,
    history: SteeringReads,
    tenant: str | None,
) -> tuple[Control, Reconciled]:
    """Reconciled with what is stored, and what its handles steer with."""
    definitions = declarations.definitions()
    caller = await programs.caller(declarations.program, tenant)
    reconciled = await programs.reconcile(caller, declarations.program, definitions)
    steering, outlook = Steering(programs.store, CRON), Outlook(endpoints, history, CRON)
    return Control(caller, steering, outlook, reconciled.endpoint_ids), reconciled


def make_worker(
    declarations: Declarations,
    name: str,
    queue: ClaimedRuns,
    calls: FunctionDispatcher,
    clock: Clock,
    events: Events,
    options: SchedulerOptions,
    load: Load | None = None,
    watch: Watch = UNWATCHED,
) -> Scheduler:
    program, functions = declarations.program, declarations.functions
    hosts = {FunctionTarget(program, function).host for function in functions}
    # A program has one tenant, and a function runs once at a time: only the whole is limited.
    all_of_it = {"per_tenant": options.in_flight, "per_host": options.in_flight}
    of_ours = replace(options, **all_of_it, runs_on=runs_on(program))
    dispatcher = watch.dispatcher(LoggingDispatcher(RoutedDispatcher({FunctionTarget: calls})))
    runs = watch.runs(ProgramRuns(queue, hosts))
    return Scheduler(name, runs, dispatcher, clock, watch.events(events), of_ours, load)
