"""What the routes depend on: use cases, and what is read. A root puts the stores together."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import partial
from uuid import UUID

from fastapi import Request

from cadenza.application.accounts import Keys, SigningKeyRotation, Tenants
from cadenza.application.analysis_requests import AnalysisRequests
from cadenza.application.answer_values import AnswerValues
from cadenza.application.archive import Archive
from cadenza.application.authentication import Authentication
from cadenza.application.billing import BillingAccounts, VirtualKeys
from cadenza.application.bulk import BulkSteering
from cadenza.application.endpoints import Endpoints, EndpointTest
from cadenza.application.grants import Grants
from cadenza.application.graph_grants import GraphGrants
from cadenza.application.graph_targets import GraphTargets
from cadenza.application.job_people import JobPeople
from cadenza.application.jobs import Jobs
from cadenza.application.known_graphs import graph_warnings
from cadenza.application.manifests import Manifests
from cadenza.application.notifications import Channels, Incidents, Routes
from cadenza.application.outlook import Outlook
from cadenza.application.people import Invitations, People
from cadenza.application.planner_switch import PlannerSwitch
from cadenza.application.ports.accounts import KeyReads, TenantReads
from cadenza.application.ports.activity import ActivityReads
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.catalogue import EndpointReads, JobReads
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.event_log import EventLog
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.grants import GrantReads
from cadenza.application.ports.identity import IdentityProvider
from cadenza.application.ports.ids import IdReads
from cadenza.application.ports.notifications import ChannelSender, NotificationReads
from cadenza.application.ports.people import PeopleReads
from cadenza.application.ports.planner_stops import PlannerStopReads
from cadenza.application.ports.purses import PurseReads
from cadenza.application.ports.records import Records
from cadenza.application.ports.run_authors import RunAuthorReads
from cadenza.application.ports.run_search import LatestAnswers, RunReads
from cadenza.application.ports.schedules import ScheduleReads
from cadenza.application.ports.score import ScoreReads
from cadenza.application.ports.sign_ins import SignInReads
from cadenza.application.ports.signing_keys import SigningKeys
from cadenza.application.ports.steering_history import SteeringReads
from cadenza.application.ports.store import Store
from cadenza.application.ports.suggestions import SuggestionReads
from cadenza.application.ports.usage import Readiness, UsageReads
from cadenza.application.ports.workers import GraphReads, WorkerReads
from cadenza.application.provider_sign_ins import ProviderRules, ProviderSignIns
from cadenza.application.purses import Purses
from cadenza.application.quotas import QuotaReads, Quotas
from cadenza.application.rule_fit import misfits_of_jobs
from cadenza.application.rules_now import RulesNow
from cadenza.application.run_results import RunResults
from cadenza.application.schedule_changes import ScheduleChanges
from cadenza.application.schedule_manifests import ScheduleManifests
from cadenza.application.schedules import Schedules
from cadenza.application.scores import Scores
from cadenza.application.search import Search
from cadenza.application.session_metering import Payers
from cadenza.application.sign_ins import SignIns
from cadenza.application.steering import Steering
from cadenza.application.suggestions import Suggestions
from cadenza.application.webhooks import Webhooks
from cadenza.domain.access import Caller
from cadenza.domain.cron import Cron
from cadenza.domain.definition import ValidationPolicy
from cadenza.domain.people import JobLimits
from cadenza.domain.quota import PlannerLimits
from cadenza.domain.target import Secret
from cadenza.manifest.checking import Checks
from cadenza.web.api.limited import limited_stores
from cadenza.web.api.observing import UNWATCHED, ApiWatch
from cadenza.web.api.rate_limit import RateLimit
from cadenza.web.api.streams import Streams

MOST_LIMITED = 1000  # of those who have single jobs, whose dependencies are kept


@dataclass(frozen=True, slots=True)
class Stores:
    """What is stored, behind its ports."""

    store: Store
    jobs: JobReads
    endpoints: EndpointReads
    runs: RunReads
    records: Records
    usage: UsageReads
    readiness: Readiness
    event_log: EventLog
    latest_answers: LatestAnswers
    keys: KeyReads
    tenants: TenantReads
    signing_keys: SigningKeys
    suggestions: SuggestionReads
    purses: PurseReads
    run_authors: RunAuthorReads
    planner_stops: PlannerStopReads
    analysis_queue: AnalysisQueue
    billing: BillingReads
    grants: GrantReads
    schedules: ScheduleReads
    graphs: GraphReads
    workers: WorkerReads
    sign_ins: SignInReads
    people: PeopleReads
    ids: IdReads
    steering: SteeringReads
    scores: ScoreReads
    activity: ActivityReads
    notifications: NotificationReads


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is neither stored nor decided here."""

    streams: Streams
    expressions: Expressions
    dispatcher: Dispatcher  # for test calls
    validation_policy: ValidationPolicy
    cron: Cron
    prices: Prices
    planner_limits: PlannerLimits
    clock: Clock
    rate_limit: RateLimit
    failed_sign_ins: RateLimit  # to the dashboard, by address
    new_id: Callable[[], UUID]
    new_secret: Callable[[], str]  # 43 characters of chance
    new_signing_secret: Callable[[], Secret]
    monotonic: Callable[[], float]
    channel_sender: ChannelSender
    zone_of: Callable[[str], tzinfo]
    closed_ports: frozenset[int] = frozenset()
    admin_key_hash: bytes | None = None  # of the installation admin's key, which makes tenants
    watch: ApiWatch = UNWATCHED
    identity_provider: IdentityProvider | None = None
    provider_rules: ProviderRules = field(default_factory=ProviderRules)
    public_url: str | None = None  # where people reach the dashboard; None: as they say they do

    def checks(self) -> Checks:
        """What documents are held against now."""
        return Checks(self.validation_policy, self.cron, self.clock.now())


class Dependencies:
    def __init__(
        self, stores: Stores, around: Surroundings, whole: "Dependencies | None" = None
    ) -> None:
        """`whole`: those of everybody, where these are for somebody who has single jobs."""
        store, cron, new_id = stores.store, around.cron, around.new_id
        policy, clock = around.validation_policy, around.clock
        self.reads = stores
        self.around = around
        self._limited: dict[JobLimits, Dependencies] = {}
        unlimited = stores if whole is None else whole.reads
        if whole is None:
            self.authentication = Authentication(stores.keys, around.monotonic)
            self.sign_ins = SignIns(store, stores.sign_ins, self.authentication, around.new_secret)
        else:
            self.authentication, self.sign_ins = whole.authentication, whole.sign_ins
        forget_keys = self.authentication.forget
        self.invitations = Invitations(store, new_id, around.new_secret)
        self.people = People(store, forget_keys)
        self.provider = None
        if around.identity_provider is not None:
            self.provider = ProviderSignIns(
                around.identity_provider,
                store,
                stores.people,
                self.invitations,
                around.provider_rules,
                new_id,
            )
        self.tenants = Tenants(store, new_id, forget_keys)
        self.purses = Purses(stores.purses, cron)
        self.planner_switch = PlannerSwitch(store, stores.tenants, stores.planner_stops)
        self.keys = Keys(store, new_id, around.new_secret, forget_keys)
        whole_store = unlimited.store  # it looks itself at who asks, and for which job
        self.job_people = JobPeople(
            unlimited.jobs,
            unlimited.tenants,
            unlimited.people,
            unlimited.keys,
            Invitations(whole_store, new_id, around.new_secret),
            Keys(whole_store, new_id, around.new_secret, forget_keys),
            clock,
        )
        self.jobs = Jobs(store, cron, policy, new_id, stores.billing)
        graph_grants = GraphGrants(around.prices, new_id)
        graph_targets = GraphTargets(graph_grants, stores.billing)
        self.endpoints = Endpoints(store, cron, policy, clock, new_id, graph_targets)
        self.archive = Archive(store, cron, graph_targets)
        self.results = RunResults(store, around.new_secret)
        self.endpoint_test = EndpointTest(stores.endpoints, around.dispatcher, clock, new_id)
        self.steering = Steering(store, cron)
        self.bulk_steering = BulkSteering(store, stores.endpoints, stores.jobs, cron)
        limits = around.planner_limits
        self.quotas = QuotaReads(stores.usage, stores.jobs, limits)
        self.analysis_requests = AnalysisRequests(
            store,
            Quotas(store, new_id, limits.per_month, limits.per_day),
            Payers(unlimited.billing, stores.tenants, around.prices),
            limits.session_tokens,
        )
        self.outlook = Outlook(stores.endpoints, stores.steering, cron)
        self.scores = Scores(
            stores.scores,
            stores.jobs,
            stores.steering,
            stores.run_authors,
            around.expressions,
            cron,
        )
        self.answer_values = AnswerValues(
            stores.scores, stores.endpoints, stores.jobs, around.expressions
        )
        self.rules_now = RulesNow(stores.endpoints, stores.analysis_queue, around.expressions)
        self.search = Search(stores.jobs, stores.endpoints, stores.runs, stores.records)
        self.signing_keys = SigningKeyRotation(store, new_id)
        self.accounts = BillingAccounts(store, new_id)
        self.virtual_keys = VirtualKeys(store, policy, new_id)
        self.grants = Grants(store, new_id)
        changes = ScheduleChanges(graph_grants, cron)
        declared = ScheduleManifests(changes, stores.billing, new_id)
        self.manifests = Manifests(store, cron, declared, graph_targets, new_id)
        self.schedules = Schedules(store, stores.schedules, stores.billing, changes, cron, new_id)
        self.incidents = Incidents(store, around.zone_of)
        self.channels = Channels(store, around.channel_sender, new_id)
        self.notification_routes = Routes(store, around.zone_of, new_id)
        self.webhooks = Webhooks(store, around.closed_ports, new_id)
        self.graph_warnings = partial(graph_warnings, stores.graphs)
        self.suggestions = Suggestions(
            store, stores.suggestions, stores.analysis_queue, clock, cron
        )
        self.misfits_of = partial(
            misfits_of_jobs, stored=stores.latest_answers, expressions=around.expressions
        )

    def for_caller(self, caller: Caller) -> "Dependencies":
        """With what they may see and touch; for most people, all of it."""
        limits = caller.limits
        if limits.is_none:
            return self
        known = self._limited.get(limits)
        if known is None:
            if len(self._limited) >= MOST_LIMITED:
                self._limited.clear()
            stores = limited_stores(self.reads, limits, self.around.clock)
            known = self._limited[limits] = Dependencies(stores, self.around, self)
        return known


async def dependencies_of(request: Request) -> Dependencies:
    # async, although it waits for nothing: else every request would go through a thread for it
    return request.app.state.dependencies


async def dependencies_of_caller(request: Request) -> Dependencies:
    """Who asks is known by now: in every route the caller comes before these."""
    dependencies: Dependencies = request.app.state.dependencies
    caller: Caller | None = getattr(request.state, "caller", None)
    return dependencies if caller is None else dependencies.for_caller(caller)
