"""Every metric there is: its name, what it says, and which programs have it.

docs/reference/metrics.md is made from this table. Labels have few values, all of them ours: none is
an endpoint, a job or a URL, and tenants only appear where the installation names them.
"""

from dataclasses import dataclass
from enum import StrEnum

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
LATE = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)
LONG = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
LAG = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Part(StrEnum):
    """What a program has decides which metrics it shows."""

    PROCESS = "every program"
    RUNS = "scheduler, graph-worker, a program of functions"
    INSTALLATION = "api, scheduler"
    PLANNER = "planner, a program of functions"
    MODELS = "planner, graph-worker"
    NOTIFIER = "notifier"
    API = "api"
    SUPERVISOR = "up"


@dataclass(frozen=True, slots=True)
class Metric:
    part: Part
    kind: Kind
    name: str
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


def _counter(part: Part, name: str, about: str, *labels: str) -> Metric:
    return Metric(part, Kind.COUNTER, name, about, labels)


def _gauge(part: Part, name: str, about: str, *labels: str) -> Metric:
    return Metric(part, Kind.GAUGE, name, about, labels)


def _histogram(
    part: Part, name: str, about: str, buckets: tuple[float, ...], *labels: str
) -> Metric:
    return Metric(part, Kind.HISTOGRAM, name, about, labels, buckets)


_RUNS = (
    _counter(
        Part.RUNS,
        "cadenza_runs_total",
        "Runs that were stored, by what chose their slot and how they ended.",
        "source",
        "outcome",
    ),
    _histogram(
        Part.RUNS,
        "cadenza_run_lateness_seconds",
        "From the slot of a run to its start.",
        LATE,
    ),
    _histogram(
        Part.RUNS, "cadenza_run_duration_seconds", "From the start of a run to its end.", LONG
    ),
    _counter(Part.RUNS, "cadenza_claims_total", "Runs that this program has claimed."),
    _counter(
        Part.RUNS, "cadenza_takeovers_total", "Of those, such as another worker had lost before."
    ),
    _histogram(
        Part.RUNS, "cadenza_claim_duration_seconds", "What one claim of a batch takes.", FAST
    ),
    _histogram(
        Part.RUNS, "cadenza_finish_duration_seconds", "What it takes to store one batch.", FAST
    ),
    _histogram(Part.RUNS, "cadenza_finish_batch_runs", "Runs that are stored together.", SIZES),
    _gauge(Part.RUNS, "cadenza_runs_in_flight", "Runs that this program executes now."),
    _gauge(Part.RUNS, "cadenza_runs_in_flight_limit", "How many it may execute at once."),
    _counter(
        Part.RUNS,
        "cadenza_leases_lost_total",
        "Runs that were cut off because their lease could not be kept.",
    ),
    _counter(
        Part.RUNS,
        "cadenza_fenced_writes_total",
        "Results that came under an old epoch and changed nothing.",
    ),
    _counter(
        Part.RUNS, "cadenza_runs_given_back_total", "Claims that were given back unsent at a stop."
    ),
    _counter(
        Part.RUNS, "cadenza_results_unsaved_total", "Results that could not be stored at all."
    ),
    _counter(
        Part.RUNS,
        "cadenza_store_failures_total",
        "Operations that the database did not answer, and that are tried again.",
        "operation",
    ),
)
_INSTALLATION = (
    _gauge(
        Part.INSTALLATION,
        "cadenza_due_backlog",
        "Endpoints of the installation that are due and not yet claimed; 10,000 is that or more.",
    ),
    _gauge(
        Part.INSTALLATION,
        "cadenza_due_oldest_seconds",
        "How long the first of them has been due.",
    ),
    _gauge(
        Part.INSTALLATION,
        "cadenza_workers",
        "Workers that are alive, and workers that were lost without another of their kind started"
        " since.",
        "kind",
        "state",
    ),
    _gauge(
        Part.INSTALLATION,
        "cadenza_quota_used_ratio",
        "Of this month's quota for models, what the tenant nearest to its limit has used.",
        "unit",
    ),
    _gauge(
        Part.INSTALLATION,
        "cadenza_tenant_quota_used_ratio",
        "The same for each tenant that CADENZA_METRICS_TENANTS names.",
        "tenant",
        "unit",
    ),
    _gauge(Part.INSTALLATION, "cadenza_incidents_open", "Incidents of all tenants.", "severity"),
    _gauge(
        Part.INSTALLATION,
        "cadenza_deliveries_due_oldest_seconds",
        "How long the first message or event has been due that no notifier has taken.",
    ),
    _gauge(
        Part.INSTALLATION,
        "cadenza_installation_read_success",
        "1 where the database answered when the figures above were last read.",
    ),
)
_PLANNER = (
    _counter(
        Part.PLANNER,
        "cadenza_sessions_total",
        "Analyses, by the kind of brain and how they ended.",
        "brain",
        "end",
    ),
    _histogram(
        Part.PLANNER, "cadenza_session_duration_seconds", "What an analysis takes.", LONG, "brain"
    ),
    _counter(
        Part.PLANNER,
        "cadenza_planner_changes_total",
        "What analyses did: took effect, suggested, or refused by the limits.",
        "brain",
        "result",
    ),
    _counter(
        Part.PLANNER,
        "cadenza_quota_refusals_total",
        "Sessions that were not held: over a limit, or nobody pays.",
        "reason",
    ),
    _counter(Part.PLANNER, "cadenza_quota_warnings_total", "Quotas that came near their limit."),
    _counter(
        Part.PLANNER, "cadenza_provider_failures_total", "Times that a provider of models was away."
    ),
    _counter(
        Part.MODELS,
        "cadenza_tokens_total",
        "Tokens of models, for graphs or for planning.",
        "use",
        "direction",
    ),
    _counter(
        Part.MODELS, "cadenza_cost_dollars_total", "What they cost, by the known prices.", "use"
    ),
)
_PROGRAM = (
    _counter(
        Part.NOTIFIER,
        "cadenza_deliveries_total",
        "Attempts to send a message or an event: taken, to be tried again, or given up.",
        "kind",
        "outcome",
    ),
    _counter(
        Part.API,
        "cadenza_api_requests_total",
        "Requests, by method and the first digit of their status.",
        "method",
        "status",
    ),
    _histogram(
        Part.API,
        "cadenza_api_request_duration_seconds",
        "Until a request was answered; event streams do not count.",
        FAST,
        "method",
    ),
    _gauge(Part.SUPERVISOR, "cadenza_program_up", "1 where the program runs.", "program"),
    _counter(
        Part.SUPERVISOR,
        "cadenza_program_restarts_total",
        "Times that a program ended and was started again.",
        "program",
    ),
    _gauge(
        Part.PROCESS,
        "cadenza_build_info",
        "1, with what this program is.",
        "version",
        "program",
        "python",
    ),
    _histogram(
        Part.PROCESS,
        "cadenza_event_loop_lag_seconds",
        "How much later than asked the event loop wakes, four times a second.",
        LAG,
    ),
    _gauge(
        Part.PROCESS,
        "cadenza_database_connections",
        "Connections to the database, of which some are in use and some idle.",
        "state",
    ),
    _gauge(
        Part.PROCESS,
        "cadenza_database_connections_limit",
        "How many it may have; CADENZA_CONNECTIONS.",
    ),
    _gauge(
        Part.PROCESS,
        "cadenza_database_waiting",
        "Who waits for one because all are in use.",
    ),
)
METRICS = (*_RUNS, *_INSTALLATION, *_PLANNER, *_PROGRAM)
