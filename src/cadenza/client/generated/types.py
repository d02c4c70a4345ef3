"""What the API takes and answers.

Made by `python -m tests.client.generate`; do not change it by hand.
"""

# ruff: noqa: UP007
from datetime import datetime
from typing import Any, Literal, NotRequired, Union

from typing_extensions import TypedDict

Instant = Union[str, datetime]
AnalysisReason = Literal[
    "asked",
    "ran",
    "sibling-ran",
    "never-analysed",
    "failure-streak",
    "sibling-changed",
    "failed",
    "due",
    "retry",
]


Author = Literal["person", "planner"]


BulkAction = Literal["pause", "resume", "clear-hints", "reset-failures"]


BulkResult = Literal["done", "unchanged", "archived", "not-found"]


Concurrency = Literal["forbid", "allow", "replace"]


DeliveryStatus = Literal["waiting", "delivered", "failed"]


EndpointOrder = Literal["created_at", "name", "next_run_at"]


EndpointState = Literal["active", "paused", "failing", "late", "hinted", "archived"]


ErrorCode = Literal[
    "invalid_request",
    "not_found",
    "timeout",
    "aborted",
    "rate_limit",
    "insufficient_credits",
    "provider_unavailable",
    "worker_lost",
    "internal",
]


ExportFormat = Literal["ndjson", "csv"]


Family = Literal["baseline", "tightened", "relaxed", "once", "manual", "held"]


GrantRefusal = Literal["grant_missing", "grant_revoked", "grant_expired", "grant_scope"]


GrantState = Literal["active", "expired", "revoked"]


GraphState = Literal["ready", "broken", "away"]


IdKind = Literal[
    "job",
    "endpoint",
    "run",
    "session",
    "schedule",
    "schedule-run",
    "grant",
    "account",
    "incident",
    "route",
    "delivery",
]


IncidentKind = Literal[
    "failing",
    "late",
    "planner-pause",
    "suggestion",
    "quota",
    "grant-expiring",
    "key-expiring",
    "worker-lost",
    "channel-failing",
    "webhook-disabled",
]


Mode = Literal["off", "advise", "act"]


ModelApi = Literal["openai", "anthropic"]


Role = Literal["viewer", "operator", "owner"]


RunStatus = Literal["running", "success", "failure", "timeout", "cancelled"]


Scope = Literal["read", "operate", "admin"]


SessionEnd = Literal["submitted", "unfinished", "out-of-calls", "failed", "skipped"]


Severity = Literal["info", "warning", "error", "critical"]


SlotStatus = Literal["scheduled", "running", "success", "error", "skipped", "cancelled", "waiting"]


Source = Literal[
    "baseline-cron",
    "baseline-interval",
    "ai-interval",
    "ai-oneshot",
    "clamped-min",
    "clamped-max",
    "retry-after",
    "paused",
    "resumed",
    "manual",
]


SteeredBy = Literal["person", "rule", "model", "detector"]


UsageGroup = Literal["day", "schedule", "endpoint", "graph", "job", "model", "account"]


class AcceptBody(TypedDict):
    call: NotRequired[Union[int, None]]


class AcceptedSuggestionResponse(TypedDict):
    session_id: str
    call: int
    effect: dict[str, Any]


class AccessBody(TypedDict):
    role: NotRequired[Union["Role", None]]
    jobs: NotRequired[list["JobRoleBody"]]


class AccountBody(TypedDict):
    name: str


class AccountResponse(TypedDict):
    id: str
    name: str
    balance: int
    created_at: str


class AccountUsageResponse(TypedDict):
    group_by: "UsageGroup"
    items: list["UsageRowResponse"]


ActivityBucketResponse = TypedDict(
    "ActivityBucketResponse",
    {
        "from": str,
        "counts": dict[str, int],
        "failed": int,
        "timed_out": int,
        "lateness_ms": "PercentilesResponse",
        "duration_ms": "PercentilesResponse",
    },
)


ActivityResponse = TypedDict(
    "ActivityResponse",
    {
        "from": str,
        "to": str,
        "bucket_ms": int,
        "known_from": Union[str, None],
        "buckets": list["ActivityBucketResponse"],
    },
)


class AliveResponse(TypedDict):
    alive: Literal[True]


class AnalysesResponse(TypedDict):
    items: list["AnalysisResponse"]


class AnalysisResponse(TypedDict):
    brain: str
    looked_at: Union[str, None]
    next_analysis_at: Union[str, None]
    failed_looks: int
    trouble: str


class AnswerBody(TypedDict):
    answer: Any


class AnswerFieldResponse(TypedDict):
    field: str
    path: list[str]
    limits: list["LimitResponse"]


class AppliedManifestResponse(TypedDict):
    dry_run: bool
    counts: dict[str, int]
    changes: list["ChangeResponse"]
    warnings: list["WarningResponse"]


class AskedByResponse(TypedDict):
    """Who asked for a run by hand, or whose hint chose its slot"""

    kind: "SteeredBy"
    name: Union[str, None]
    user_id: Union[str, None]
    session_id: Union[str, None]
    reason: str


class AuditEntryResponse(TypedDict):
    id: int
    at: str
    actor: str
    action: str
    subject: str
    data: dict[str, Any]


class BaselineResponse(TypedDict):
    every_ms: Union[int, None]
    cron: Union[str, None]
    timezone: Union[str, None]
    on_demand: bool


class BulkBody(TypedDict):
    action: "BulkAction"
    endpoint_ids: list[str]
    until: NotRequired[Union[Instant, None]]
    reason: NotRequired[str]


class BulkResponse(TypedDict):
    done: int
    items: list["BulkResultResponse"]


class BulkResultResponse(TypedDict):
    endpoint_id: str
    result: "BulkResult"


class ChangeResponse(TypedDict):
    act: str
    job: Union[str, None]
    endpoint: Union[str, None]
    schedule: Union[str, None]
    fields: list["FieldChangeResponse"]


class ChangedJobResponse(TypedDict):
    id: str
    name: str
    description: str
    created_at: str
    paused: bool
    paused_until: Union[str, None]
    archived_at: Union[str, None]
    endpoint_count: int
    revision: int
    rules: list[dict[str, Any]]
    planner: "PlannerResponse"
    warnings: list[str]


class ChannelBody(TypedDict):
    name: str
    url: str


class ChannelPatchBody(TypedDict):
    name: NotRequired[Union[str, None]]
    url: NotRequired[Union[str, None]]
    enabled: NotRequired[Union[bool, None]]


class ChannelResponse(TypedDict):
    id: str
    name: str
    service: str
    url: str
    enabled: bool
    created_at: str
    failing_since: Union[str, None]
    failures: int
    last_error: Union[str, None]
    last_sent_at: Union[str, None]


class ChannelsResponse(TypedDict):
    items: list["ChannelResponse"]


class CreatedInvitationResponse(TypedDict):
    id: str
    email: str
    role: Union["Role", None]
    jobs: list["JobRoleResponse"]
    invited_by: str
    created_at: str
    expires_at: str
    accepted_at: Union[str, None]
    revoked_at: Union[str, None]
    path: str


class CreatedKeyResponse(TypedDict):
    id: str
    name: str
    user_id: str
    scopes: list["Scope"]
    created_at: str
    expires_at: Union[str, None]
    revoked_at: Union[str, None]
    last_used_at: Union[str, None]
    job_ids: Union[list[str], None]
    key: str


class CreatedSigningKeyResponse(TypedDict):
    id: str
    created_at: str
    retires_at: Union[str, None]
    secret: str


class CreditsBody(TypedDict):
    credits: int
    reason: str
    reference: str


class DeletedResponse(TypedDict):
    id: str


class DeliveryDetailResponse(TypedDict):
    id: str
    kind: str
    title: str
    channel_id: Union[str, None]
    webhook_id: Union[str, None]
    status: "DeliveryStatus"
    attempt: int
    error: Union[str, None]
    status_code: Union[int, None]
    created_at: str
    due_at: str
    finished_at: Union[str, None]
    payload: dict[str, Any]


class DeliveryResponse(TypedDict):
    id: str
    kind: str
    title: str
    channel_id: Union[str, None]
    webhook_id: Union[str, None]
    status: "DeliveryStatus"
    attempt: int
    error: Union[str, None]
    status_code: Union[int, None]
    created_at: str
    due_at: str
    finished_at: Union[str, None]


class DismissedSuggestionResponse(TypedDict):
    session_id: str
    call: int


class DraftBody(TypedDict):
    """The schedule of an endpoint that is not saved: one of every, cron, on_demand; guardrails"""

    every: NotRequired[Union[Union[int, str], None]]
    cron: NotRequired[Union[str, None]]
    timezone: NotRequired[Union[str, None]]
    on_demand: NotRequired[Union[bool, None]]
    min_interval: NotRequired[Union[Union[int, str], None]]
    max_interval: NotRequired[Union[Union[int, str], None]]


class DraftPreviewResponse(TypedDict):
    at: str
    next_runs: list["UpcomingRunResponse"]
    warnings: list[str]


class EndpointDetailResponse(TypedDict):
    id: str
    job_id: str
    job_name: str
    name: str
    created_at: str
    archived_at: Union[str, None]
    revision: int
    baseline: "BaselineResponse"
    min_interval_ms: Union[int, None]
    max_interval_ms: Union[int, None]
    backoff: str
    target: "TargetResponse"
    next_run_at: Union[str, None]
    next_source: Union[str, None]
    last_run_at: Union[str, None]
    running: bool
    failure_count: int
    failing_since: Union[str, None]
    not_before_at: Union[str, None]
    hints: list["HintResponse"]
    pauses: list["PauseResponse"]
    next_runs: list["UpcomingRunResponse"]
    warnings: list[str]


class EndpointDocument(TypedDict):
    """An endpoint: what is called, its baseline (one of every, cron, on_demand), its guardrails"""

    name: str
    every: NotRequired[Union[Union[int, str], None]]
    every_ms: NotRequired[Union[int, None]]
    cron: NotRequired[Union[str, None]]
    timezone: NotRequired[Union[str, None]]
    on_demand: NotRequired[Union[bool, None]]
    min_interval: NotRequired[Union[Union[int, str], None]]
    min_interval_ms: NotRequired[Union[int, None]]
    max_interval: NotRequired[Union[Union[int, str], None]]
    max_interval_ms: NotRequired[Union[int, None]]
    backoff: NotRequired[Union[Literal["doubling", "none"], None]]
    url: NotRequired[Union[str, None]]
    method: NotRequired[
        Union[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], None]
    ]
    headers: NotRequired[Union[dict[str, str], None]]
    secret_headers: NotRequired[Union[dict[str, str], None]]
    body: NotRequired[Union[str, dict[str, Any], list[Any], None]]
    max_redirects: NotRequired[Union[int, None]]
    success_statuses: NotRequired[Union[list[int], None]]
    success_when: NotRequired[Union[str, None]]
    command: NotRequired[Union[list[str], None]]
    folder: NotRequired[Union[str, None]]
    graph: NotRequired[Union[str, None]]
    input: NotRequired[Union[dict[str, Any], None]]
    limits: NotRequired[Union["LimitsDocument", None]]
    grant: NotRequired[Union[str, None]]
    account: NotRequired[Union[str, None]]
    function: NotRequired[Union[str, None]]
    queue: NotRequired[Union[str, None]]
    topic: NotRequired[Union[str, None]]
    exchange: NotRequired[Union[str, None]]
    password: NotRequired[Union[str, None]]
    await_result: NotRequired[Union[bool, None]]
    reply_to: NotRequired[Union[str, None]]
    timeout: NotRequired[Union[Union[int, str], None]]
    timeout_ms: NotRequired[Union[int, None]]


class EndpointResponse(TypedDict):
    id: str
    job_id: str
    job_name: str
    name: str
    created_at: str
    archived_at: Union[str, None]
    revision: int
    baseline: "BaselineResponse"
    min_interval_ms: Union[int, None]
    max_interval_ms: Union[int, None]
    backoff: str
    target: "TargetResponse"
    next_run_at: Union[str, None]
    next_source: Union[str, None]
    last_run_at: Union[str, None]
    running: bool
    failure_count: int
    failing_since: Union[str, None]
    not_before_at: Union[str, None]
    hints: list["HintResponse"]
    pauses: list["PauseResponse"]


class ExplanationResponse(TypedDict):
    endpoint_id: str
    at: str
    summary: str
    next_run_at: Union[str, None]
    source: Union[str, None]
    plan: Union[dict[str, Any], None]
    because: list[str]
    would_change: list[str]


class FieldChangeResponse(TypedDict):
    field: str
    before: Any
    after: Any


class FieldResponse(TypedDict):
    endpoint_id: str
    endpoint: str
    field: str
    path: list[str]


class FirstKeyBody(TypedDict):
    name: NotRequired[str]
    scopes: NotRequired[list["Scope"]]


class GrantBody(TypedDict):
    account_id: str
    scopes: list[str]
    expires_at: NotRequired[Union[Instant, None]]
    expires_in: NotRequired[Union[Union[int, str], None]]


class GrantDetailResponse(TypedDict):
    id: str
    user_id: str
    account_id: str
    scopes: list[str]
    state: "GrantState"
    created_at: str
    expires_at: Union[str, None]
    revoked_at: Union[str, None]
    schedule_id: Union[str, None]
    endpoint_id: Union[str, None]
    uses: list["GrantUseResponse"]


class GrantResponse(TypedDict):
    id: str
    user_id: str
    account_id: str
    scopes: list[str]
    state: "GrantState"
    created_at: str
    expires_at: Union[str, None]
    revoked_at: Union[str, None]
    schedule_id: Union[str, None]
    endpoint_id: Union[str, None]


class GrantUseResponse(TypedDict):
    run_id: str
    graph_id: str
    at: str
    refusal: Union["GrantRefusal", None]


class GraphResponse(TypedDict):
    graph_id: str
    state: "GraphState"
    problem: Union[str, None]
    input_schema: Union[dict[str, Any], None]
    seen_at: str
    workers: list["GraphWorkerResponse"]


class GraphWorkerResponse(TypedDict):
    worker: str
    labels: list[str]
    state: "GraphState"
    problem: Union[str, None]
    seen_at: str


class HealthResponse(TypedDict):
    endpoint_id: str
    windows: list["HealthWindowResponse"]
    mean_duration_ms: Union[float, None]
    failure_streak: int


class HealthWindowResponse(TypedDict):
    hours: int
    runs: int
    successes: int
    success_rate: Union[float, None]


class HintResponse(TypedDict):
    kind: str
    interval_ms: Union[int, None]
    run_at: Union[str, None]
    expires_at: str
    author: str
    reason: str


class IdsResponse(TypedDict):
    items: list[str]
    more: bool


class IncidentResponse(TypedDict):
    id: str
    kind: "IncidentKind"
    name: str
    severity: "Severity"
    detail: str
    measure: int
    times: int
    job_id: Union[str, None]
    endpoint_id: Union[str, None]
    opened_at: str
    updated_at: str
    acknowledged_at: Union[str, None]
    acknowledged_by: Union[str, None]
    resolved_at: Union[str, None]
    resolved_by: Union[str, None]


class IntervalHintBody(TypedDict):
    interval: Union[int, str]
    ttl: NotRequired[Union[int, str]]
    reason: NotRequired[str]


class InvitationBody(TypedDict):
    role: NotRequired[Union["Role", None]]
    jobs: NotRequired[list["JobRoleBody"]]
    email: str
    lasts: NotRequired[Union[Union[int, str], None]]


class InvitationResponse(TypedDict):
    id: str
    email: str
    role: Union["Role", None]
    jobs: list["JobRoleResponse"]
    invited_by: str
    created_at: str
    expires_at: str
    accepted_at: Union[str, None]
    revoked_at: Union[str, None]


class InvitationsResponse(TypedDict):
    items: list["InvitationResponse"]


class JobDocument(TypedDict):
    """A job with its endpoints"""

    name: str
    description: NotRequired[str]
    rules: NotRequired[list["RuleDocument"]]
    planner: NotRequired[Union["PlannerDocument", None]]
    endpoints: NotRequired[list["EndpointDocument"]]


class JobFields(TypedDict):
    name: str
    description: NotRequired[str]
    rules: NotRequired[list["RuleDocument"]]
    planner: NotRequired[Union["PlannerDocument", None]]


class JobInvitationBody(TypedDict):
    role: "Role"
    email: str
    lasts: NotRequired[Union[Union[int, str], None]]


class JobKeyBody(TypedDict):
    name: str
    scopes: list["Scope"]
    expires_at: NotRequired[Union[Instant, None]]


class JobPeopleResponse(TypedDict):
    items: list["JobPersonResponse"]


class JobPersonResponse(TypedDict):
    id: str
    name: str
    role: "Role"


class JobQuotaResponse(TypedDict):
    token_limit: Union[int, None]
    used: int
    reserved: int
    left: Union[int, None]
    cost_limit: Union[float, None]
    cost_used: float
    cost_reserved: float
    cost_left: Union[float, None]
    refused_at: Union[str, None]
    day: str
    extra_runs: "PurseResponse"


class JobResponse(TypedDict):
    id: str
    name: str
    description: str
    created_at: str
    paused: bool
    paused_until: Union[str, None]
    archived_at: Union[str, None]
    endpoint_count: int
    revision: int
    rules: list[dict[str, Any]]
    planner: "PlannerResponse"


class JobRoleBody(TypedDict):
    job_id: str
    role: "Role"


class JobRoleResponse(TypedDict):
    job_id: str
    role: "Role"


class JobStripResponse(TypedDict):
    job_id: str
    states: "StateCountsResponse"
    known_from: Union[str, None]
    buckets: list["StripBucketResponse"]


JobStripsResponse = TypedDict(
    "JobStripsResponse", {"from": str, "bucket_ms": int, "items": list["JobStripResponse"]}
)


class KeyBody(TypedDict):
    name: str
    scopes: list["Scope"]
    expires_at: NotRequired[Union[Instant, None]]
    user_id: NotRequired[Union[str, None]]
    job_ids: NotRequired[Union[list[str], None]]


class KeyResponse(TypedDict):
    id: str
    name: str
    user_id: str
    scopes: list["Scope"]
    created_at: str
    expires_at: Union[str, None]
    revoked_at: Union[str, None]
    last_used_at: Union[str, None]
    job_ids: Union[list[str], None]


class KeyRotationBody(TypedDict):
    overlap: NotRequired[Union[Union[int, str], None]]


class KeysResponse(TypedDict):
    items: list["KeyResponse"]


class LaneEndpointResponse(TypedDict):
    id: str
    name: str
    baseline: str
    interval_ms: Union[int, None]
    cron: Union[str, None]
    timezone: Union[str, None]
    min_interval_ms: Union[int, None]
    max_interval_ms: Union[int, None]
    state: "EndpointState"
    failure_count: int
    paused_until: Union[str, None]
    only_reads: bool
    running: bool
    next_run_at: Union[str, None]
    next_source: Union["Source", None]


class LaneResponse(TypedDict):
    endpoint: "LaneEndpointResponse"
    run_count: int
    known_from: Union[str, None]
    runs: list["ScoreRunResponse"]
    buckets: Union[list["ScoreBucketResponse"], None]
    windows: list["ScoreWindowResponse"]
    flags: list["ScoreFlagResponse"]
    planned: list["PlannedRunResponse"]
    baseline: list["PlannedRunResponse"]


class LateResultResponse(TypedDict):
    status: "RunStatus"
    received_at: str


class LedgerCheckResponse(TypedDict):
    account_id: str
    account_name: str
    is_right: bool
    balance: int
    entries: int
    total: int
    problems: list[str]


class LedgerEntryResponse(TypedDict):
    id: int
    at: str
    credits: int
    balance: int
    reason: str
    reference: str


class LimitResponse(TypedDict):
    op: str
    value: float
    rule: str


class LimitsDocument(TypedDict):
    """What one run may use"""

    time: NotRequired[Union[Union[int, str], None]]
    memory_mb: NotRequired[Union[int, None]]
    steps: NotRequired[Union[int, None]]
    calls: NotRequired[Union[int, None]]
    tokens: NotRequired[Union[int, None]]
    credits: NotRequired[Union[int, None]]
    cpus: NotRequired[Union[float, None]]
    gpus: NotRequired[Union[float, None]]


class LimitsResponse(TypedDict):
    """What one run of a graph may use"""

    time: str
    memory_mb: int
    steps: int
    calls: Union[int, None]
    tokens: Union[int, None]
    credits: Union[int, None]
    cpus: Union[float, None]
    gpus: Union[float, None]


class ListedRunResponse(TypedDict):
    id: str
    endpoint_id: str
    slot_at: str
    source: "Source"
    status: "RunStatus"
    attempt: int
    is_manual: bool
    started_at: Union[str, None]
    finished_at: Union[str, None]
    duration_ms: Union[int, None]
    status_code: Union[int, None]
    error_kind: Union[str, None]
    error_message: Union[str, None]
    skipped_slots: int
    skipped_reason: Union[str, None]
    asked_by: Union["AskedByResponse", None]
    endpoint: str
    job_id: str
    job: str


class LostAttemptResponse(TypedDict):
    attempt: int
    noted_at: str


class ManifestDocument(TypedDict):
    """A whole file of jobs, and of schedules of graphs"""

    version: NotRequired[int]
    jobs: list["JobDocument"]
    schedules: NotRequired[list["ScheduleDocument"]]


class MatchingBody(TypedDict):
    """What fits all of these; those that are left out are not asked"""

    action: "BulkAction"
    expected: int
    job_id: NotRequired[Union[str, None]]
    search: NotRequired[Union[str, None]]
    state: NotRequired[Union["EndpointState", None]]
    until: NotRequired[Union[Instant, None]]
    reason: NotRequired[str]


class MatchingCountResponse(TypedDict):
    count: int
    is_more: bool


class MatchingResponse(TypedDict):
    matched: int
    done: int
    unchanged: int
    archived: int


class MeResponse(TypedDict):
    tenant_id: str
    tenant_name: str
    user_id: str
    user_name: str
    key_id: str
    key_expires_at: Union[str, None]
    scopes: list["Scope"]
    job_ids: Union[list[str], None]
    operable_job_ids: Union[list[str], None]
    owned_job_ids: list[str]
    server_version: str


class ModesResponse(TypedDict):
    rules: "Mode"
    detectors: "Mode"
    llm: "Mode"


class NeighbourResponse(TypedDict):
    id: str
    slot_at: str
    status: "RunStatus"


OneShotHintBody = TypedDict(
    "OneShotHintBody",
    {
        "at": NotRequired[Union[Instant, None]],
        "in": NotRequired[Union[Union[int, str], None]],
        "ttl": NotRequired[Union[int, str]],
        "reason": NotRequired[str],
    },
)


class PauseBody(TypedDict):
    until: NotRequired[Union[Instant, None]]
    reason: NotRequired[str]


class PauseResponse(TypedDict):
    by: str
    until: Union[str, None]
    reason: str


class PeopleResponse(TypedDict):
    items: list["PersonResponse"]


class PercentilesResponse(TypedDict):
    p50: Union[float, None]
    p95: Union[float, None]


class PersonResponse(TypedDict):
    id: str
    name: str
    email: Union[str, None]
    role: Union["Role", None]
    jobs: list["JobRoleResponse"]
    created_at: str
    uses_provider: bool


class PlannedRunResponse(TypedDict):
    at: str
    source: "Source"
    family: "Family"


class PlannerDayResponse(TypedDict):
    day: str
    sessions: int
    tokens: int
    cost: float


class PlannerDaysResponse(TypedDict):
    items: list["PlannerDayResponse"]
    idle_looks: int


PlannerDocument = Union[Literal["off", "advise", "act"], dict[str, Any]]


class PlannerResponse(TypedDict):
    """What planners may do with a job"""

    rules: Union[str, None]
    detectors: Union[str, None]
    llm: Union[str, None]
    relax: Union[bool, float]
    extra_runs: float
    max_pause: Union[str, int, None]
    min_gap: str
    model: Union[str, None]
    prompt: Union[str, None]
    tokens_per_day: Union[int, None]
    money_per_day: Union[float, None]
    tokens_per_session: Union[int, None]
    account: Union[str, None]


class PlannerStopResponse(TypedDict):
    stopped_at: str
    stopped_by: Union[str, None]
    reason: str
    modes: "ModesResponse"
    jobs: int


class PlannerSwitchResponse(TypedDict):
    modes: "ModesResponse"
    stop: Union["PlannerStopResponse", None]


class PreviewResponse(TypedDict):
    endpoint_id: str
    at: str
    planned: list["UpcomingRunResponse"]
    baseline: list["UpcomingRunResponse"]


class PurseResponse(TypedDict):
    """Runs above the baseline, of all endpoints of a job together; what is used fades over two days"""

    size: float
    used: float
    left: float


QuietBody = TypedDict("QuietBody", {"from": str, "to": str, "timezone": NotRequired[str]})


QuietResponse = TypedDict("QuietResponse", {"from": str, "to": str, "timezone": str})


class QuotaResponse(TypedDict):
    token_limit: Union[int, None]
    used: int
    reserved: int
    left: Union[int, None]
    cost_limit: Union[float, None]
    cost_used: float
    cost_reserved: float
    cost_left: Union[float, None]
    refused_at: Union[str, None]
    month: str


class ReadyResponse(TypedDict):
    ready: bool
    parts: dict[str, str]


class RemovalResponse(TypedDict):
    endpoints: int
    history: int
    done: bool


class RequestedAnalysisResponse(TypedDict):
    endpoint_id: str


class RequestedRunResponse(TypedDict):
    endpoint_id: str
    slot_at: str


class ResultBody(TypedDict):
    """How the work of a run went"""

    status: Literal["success", "failure"]
    body: NotRequired[Any]
    message: NotRequired[Union[str, None]]


class ResultResponse(TypedDict):
    run_id: str
    status: "RunStatus"


class RoleBody(TypedDict):
    role: "Role"


class RouteBody(TypedDict):
    job_id: NotRequired[Union[str, None]]
    kinds: NotRequired[list["IncidentKind"]]
    min_severity: NotRequired["Severity"]
    quiet: NotRequired[Union["QuietBody", None]]
    critical_passes: NotRequired[bool]
    group: NotRequired[Union[int, str]]
    cooldown: NotRequired[Union[int, str]]
    tells_recovery: NotRequired[bool]
    enabled: NotRequired[bool]
    channel_id: str


class RoutePatchBody(TypedDict):
    """Fields that are left out stay"""

    job_id: NotRequired[Union[str, None]]
    kinds: NotRequired[list["IncidentKind"]]
    min_severity: NotRequired["Severity"]
    quiet: NotRequired[Union["QuietBody", None]]
    critical_passes: NotRequired[bool]
    group: NotRequired[Union[int, str]]
    cooldown: NotRequired[Union[int, str]]
    tells_recovery: NotRequired[bool]
    enabled: NotRequired[bool]


class RouteResponse(TypedDict):
    id: str
    channel_id: str
    job_id: Union[str, None]
    kinds: list["IncidentKind"]
    min_severity: "Severity"
    quiet: Union["QuietResponse", None]
    critical_passes: bool
    group_ms: int
    cooldown_ms: int
    tells_recovery: bool
    enabled: bool
    created_at: str


class RoutesResponse(TypedDict):
    items: list["RouteResponse"]


RuleDocument = TypedDict(
    "RuleDocument",
    {
        "name": str,
        "endpoint": NotRequired[Union[str, None]],
        "when": str,
        "for": NotRequired[int],
        "then": "ThenDocument",
        "ttl": NotRequired[Union[Union[int, str], None]],
        "cooldown": NotRequired[Union[Union[int, str], None]],
        "reason": NotRequired[str],
    },
)


class RuleVerdictResponse(TypedDict):
    id: Union[str, None]
    name: str
    when: str
    holds: bool
    why: str
    is_trouble: bool
    fired_at: Union[str, None]
    rests_until: Union[str, None]


class RulesNowResponse(TypedDict):
    at: str
    answered_at: Union[str, None]
    items: list["RuleVerdictResponse"]


class RunCountsResponse(TypedDict):
    since: str
    running: int
    success: int
    failure: int
    timeout: int
    cancelled: int


class RunDetailResponse(TypedDict):
    id: str
    endpoint_id: str
    slot_at: str
    source: "Source"
    status: "RunStatus"
    attempt: int
    is_manual: bool
    started_at: Union[str, None]
    finished_at: Union[str, None]
    duration_ms: Union[int, None]
    status_code: Union[int, None]
    error_kind: Union[str, None]
    error_message: Union[str, None]
    skipped_slots: int
    skipped_reason: Union[str, None]
    asked_by: Union["AskedByResponse", None]
    endpoint: str
    job_id: str
    job: str
    sent: "SentRequestResponse"
    before: Union["NeighbourResponse", None]
    after: Union["NeighbourResponse", None]
    claimed_at: str
    body: Any
    plan: Union[dict[str, Any], None]
    lost_attempts: list["LostAttemptResponse"]
    late_results: list["LateResultResponse"]


class RunEventResponse(TypedDict):
    number: int
    at: str
    kind: str
    data: dict[str, Any]


class RunEventsResponse(TypedDict):
    items: list["RunEventResponse"]
    next: Union[int, None]


class RunResponse(TypedDict):
    """A dictionary, because runs are listed by hundreds and need no check"""

    id: str
    endpoint_id: str
    slot_at: str
    source: "Source"
    status: "RunStatus"
    attempt: int
    is_manual: bool
    started_at: Union[str, None]
    finished_at: Union[str, None]
    duration_ms: Union[int, None]
    status_code: Union[int, None]
    error_kind: Union[str, None]
    error_message: Union[str, None]
    skipped_slots: int
    skipped_reason: Union[str, None]


class ScheduleBody(TypedDict):
    graph_id: str
    cron: str
    timezone: NotRequired[Union[str, None]]
    name: NotRequired[Union[str, None]]
    input: NotRequired[Union[dict[str, Any], None]]
    concurrency_policy: NotRequired[Union["Concurrency", None]]
    limits: NotRequired[Union["LimitsDocument", None]]
    requires: NotRequired[Union[list[str], None]]
    enabled: NotRequired[Union[bool, None]]
    grant_id: NotRequired[Union[str, None]]
    account_id: NotRequired[Union[str, None]]


class ScheduleDetailResponse(TypedDict):
    id: str
    name: Union[str, None]
    graph_id: str
    input: dict[str, Any]
    cron: str
    timezone: str
    concurrency_policy: "Concurrency"
    limits: "LimitsResponse"
    requires: list[str]
    enabled: bool
    user_id: str
    grant_id: str
    revision: int
    created_at: str
    updated_at: str
    deleted_at: Union[str, None]
    last_run_at: Union[str, None]
    next_run_at: Union[str, None]
    next_runs: list[str]
    warnings: list[str]


class ScheduleDocument(TypedDict):
    """A schedule of a file, which is known by its name"""

    graph_id: str
    cron: str
    timezone: NotRequired[Union[str, None]]
    name: str
    input: NotRequired[Union[dict[str, Any], None]]
    concurrency_policy: NotRequired[Union["Concurrency", None]]
    limits: NotRequired[Union["LimitsDocument", None]]
    requires: NotRequired[Union[list[str], None]]
    enabled: NotRequired[Union[bool, None]]
    account: NotRequired[Union[str, None]]


class ScheduleResponse(TypedDict):
    id: str
    name: Union[str, None]
    graph_id: str
    input: dict[str, Any]
    cron: str
    timezone: str
    concurrency_policy: "Concurrency"
    limits: "LimitsResponse"
    requires: list[str]
    enabled: bool
    user_id: str
    grant_id: str
    revision: int
    created_at: str
    updated_at: str
    deleted_at: Union[str, None]
    last_run_at: Union[str, None]
    next_run_at: Union[str, None]


class ScheduleRunDetailResponse(TypedDict):
    id: Union[str, None]
    schedule_id: str
    slot_at: str
    status: "SlotStatus"
    is_manual: bool
    attempt: int
    started_at: Union[str, None]
    finished_at: Union[str, None]
    duration_ms: Union[int, None]
    error_code: Union["ErrorCode", None]
    error_message: Union[str, None]
    reason: Union[str, None]
    skipped_slots: int
    question: Any
    answered_at: Union[str, None]
    answer_to: Union[str, None]
    credits: int
    output: Any
    last_lines: str
    events: "RunEventsResponse"


class ScheduleRunResponse(TypedDict):
    id: Union[str, None]
    schedule_id: str
    slot_at: str
    status: "SlotStatus"
    is_manual: bool
    attempt: int
    started_at: Union[str, None]
    finished_at: Union[str, None]
    duration_ms: Union[int, None]
    error_code: Union["ErrorCode", None]
    error_message: Union[str, None]
    reason: Union[str, None]
    skipped_slots: int
    question: Any
    answered_at: Union[str, None]
    answer_to: Union[str, None]
    credits: int


ScoreBucketResponse = TypedDict(
    "ScoreBucketResponse", {"from": str, "counts": dict[str, int], "failed": int, "timed_out": int}
)


class ScoreFlagResponse(TypedDict):
    at: str
    by: "Author"
    name: Union[str, None]
    kind: str
    text: str
    session_id: Union[str, None]
    rule: Union[str, None]


class ScoreJobResponse(TypedDict):
    id: str
    name: str
    paused_until: Union[str, None]


ScoreResponse = TypedDict(
    "ScoreResponse",
    {
        "job": "ScoreJobResponse",
        "at": str,
        "from": str,
        "to": str,
        "bucket_ms": int,
        "lanes_total": int,
        "lanes": list["LaneResponse"],
        "next": Union[str, None],
        "values": list["SeriesResponse"],
        "fields": list["FieldResponse"],
    },
)


class ScoreRunResponse(TypedDict):
    id: str
    slot_at: str
    source: "Source"
    family: "Family"
    status: "RunStatus"
    attempt: int
    started_at: Union[str, None]
    duration_ms: Union[int, None]
    status_code: Union[int, None]
    error: Union[str, None]
    skipped_slots: int
    reason: Union[str, None]
    session_id: Union[str, None]
    asked_by: Union[str, None]


ScoreWindowResponse = TypedDict(
    "ScoreWindowResponse",
    {
        "kind": str,
        "bends": Union[str, None],
        "from": str,
        "to": Union[str, None],
        "ended_as": str,
        "interval_ms": Union[int, None],
        "renewals": int,
        "author": "WindowAuthorResponse",
        "reason": str,
        "session_id": Union[str, None],
    },
)


class SearchResponse(TypedDict):
    jobs: list["JobResponse"]
    endpoints: list["EndpointResponse"]
    runs: list["ListedRunResponse"]
    sessions: list["SessionResponse"]
    since: str


class SentRequestResponse(TypedDict):
    """Put together again from the target; secrets are masked, the signature is left out"""

    kind: str
    is_exact: bool
    changed_at: Union[str, None]
    method: Union[str, None]
    url: Union[str, None]
    headers: Union[dict[str, str], None]
    body: Any
    command: list[str]
    graph_id: Union[str, None]
    function: Union[str, None]
    topic: Union[str, None]


class SeriesResponse(TypedDict):
    endpoint_id: str
    endpoint: str
    field: str
    path: list[str]
    points: list[list[Any]]
    limits: list["LimitResponse"]


class SessionDetailResponse(TypedDict):
    id: str
    job_id: str
    job: Union[str, None]
    endpoint_id: str
    endpoint: Union[str, None]
    brain: str
    started_at: str
    duration_ms: int
    ended_as: "SessionEnd"
    reasoning: str
    confidence: Union[float, None]
    reason: Union["AnalysisReason", None]
    tokens: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float
    account_id: Union[str, None]
    tools: list[str]
    did: list[str]
    suggested: list[str]
    refused: list[str]
    repeats: int
    last_at: Union[str, None]
    next_analysis_at: Union[str, None]
    tool_calls: list["ToolCallResponse"]
    prompt_version: Union[str, None]
    warnings: list[str]
    runs: list["SessionRunResponse"]


class SessionResponse(TypedDict):
    id: str
    job_id: str
    job: Union[str, None]
    endpoint_id: str
    endpoint: Union[str, None]
    brain: str
    started_at: str
    duration_ms: int
    ended_as: "SessionEnd"
    reasoning: str
    confidence: Union[float, None]
    reason: Union["AnalysisReason", None]
    tokens: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float
    account_id: Union[str, None]
    tools: list[str]
    did: list[str]
    suggested: list[str]
    refused: list[str]
    repeats: int
    last_at: Union[str, None]
    next_analysis_at: Union[str, None]


class SessionRunResponse(TypedDict):
    run_id: str
    endpoint_id: str
    endpoint: str
    slot_at: str
    source: str
    status: str


class SessionRunsResponse(TypedDict):
    items: list["SessionRunResponse"]


class SignInLinkResponse(TypedDict):
    path: str
    expires_at: str


class SigningKeyBody(TypedDict):
    overlap: NotRequired[Union[Union[int, str], None]]
    no_overlap: NotRequired[bool]


class SigningKeyResponse(TypedDict):
    id: str
    created_at: str
    retires_at: Union[str, None]


class SigningKeysResponse(TypedDict):
    items: list["SigningKeyResponse"]


class SlotResponse(TypedDict):
    """What was asked for"""

    schedule_id: str
    slot_at: str
    status: "SlotStatus"


class StateCountsResponse(TypedDict):
    """Of endpoints that are not archived; one that fails may be paused, too"""

    total: int
    ok: int
    failing: int
    late: int
    paused: int
    hinted: int


SteeringEntryResponse = TypedDict(
    "SteeringEntryResponse",
    {
        "id": int,
        "kind": str,
        "bends": Union[str, None],
        "from": str,
        "to": Union[str, None],
        "planned_to": Union[str, None],
        "ended_as": str,
        "ended_by": Union["Author", None],
        "ended_by_name": Union[str, None],
        "interval_ms": Union[int, None],
        "run_at": Union[str, None],
        "renewals": int,
        "author": "WindowAuthorResponse",
        "reason": str,
        "session_id": Union[str, None],
    },
)


class StopPlannerBody(TypedDict):
    reason: NotRequired[str]


StripBucketResponse = TypedDict(
    "StripBucketResponse", {"from": str, "counts": dict[str, int], "failed": int, "timed_out": int}
)


class SuggestionResponse(TypedDict):
    session_id: str
    call: int
    endpoint_id: str
    endpoint: str
    brain: str
    tool: str
    arguments: Any
    would: dict[str, Any]
    reasoning: str
    suggested_at: str
    open_until: str


class SuggestionsResponse(TypedDict):
    items: list["SuggestionResponse"]


class SwitchedResponse(TypedDict):
    """What changed in all tenants"""

    tenants: int
    jobs: int


class TargetResponse(TypedDict):
    kind: str
    timeout_ms: int
    url: Union[str, None]
    method: Union[str, None]
    headers: dict[str, str]
    secret_headers: list[str]
    body: Union[str, None]
    max_redirects: int
    success_statuses: list[int]
    success_when: Union[str, None]
    command: Union[list[str], None]
    folder: Union[str, None]
    graph: Union[str, None]
    input: Union[dict[str, Any], None]
    limits: Union["LimitsResponse", None]
    grant_id: Union[str, None]
    account: Union[str, None]
    function: Union[str, None]
    queue: Union[str, None]
    topic: Union[str, None]
    exchange: Union[str, None]
    has_password: bool
    await_result: bool
    reply_to: Union[str, None]


class TenantBody(TypedDict):
    name: str
    retention_days: NotRequired[Union[int, None]]


class TenantPatchBody(TypedDict):
    """What is left out stays as it is"""

    retention_days: NotRequired[Union[int, None]]
    rules_mode: NotRequired[Union["Mode", None]]
    detectors_mode: NotRequired[Union["Mode", None]]
    llm_mode: NotRequired[Union["Mode", None]]
    planner_account_id: NotRequired[Union[str, None]]


class TenantResponse(TypedDict):
    id: str
    name: str
    created_at: str
    retention_days: Union[int, None]
    rules_mode: str
    detectors_mode: str
    llm_mode: str
    planner_account_id: Union[str, None]


class TestCallResponse(TypedDict):
    status: str
    status_code: Union[int, None]
    error_kind: Union[str, None]
    error_message: Union[str, None]
    duration_ms: int
    body: Any


class ThenDocument(TypedDict):
    """What a rule does: exactly one action, for the endpoint itself or for a sibling"""

    interval: NotRequired[Union[Union[int, str], None]]
    run_now: NotRequired[Union[bool, None]]
    run_in: NotRequired[Union[Union[int, str], None]]
    run_at: NotRequired[Union[str, None]]
    pause: NotRequired[Union[Union[int, str], None]]
    resume: NotRequired[Union[bool, None]]
    clear: NotRequired[Union[bool, None]]
    endpoint: NotRequired[Union[str, None]]


class TimelineEntryResponse(TypedDict):
    at: str
    kind: Literal["run", "act", "session"]
    run: Union["RunResponse", None]
    act: Union["AuditEntryResponse", None]
    session: Union["SessionResponse", None]


class ToolCallResponse(TypedDict):
    tool: str
    arguments: Any
    result: dict[str, Any]
    took_effect: bool
    suggested: bool
    open_until: Union[str, None]
    accepted_by: Union[str, None]
    dismissed_by: Union[str, None]
    refusal: Union[str, None]


class UpcomingRunResponse(TypedDict):
    at: str
    source: str


class UsageResponse(TypedDict):
    jobs: int
    endpoints: int
    last_hour: "RunCountsResponse"
    last_day: "RunCountsResponse"
    tokens_this_month: int


class UsageRowResponse(TypedDict):
    group: Union[str, None]
    calls: int
    estimated_calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    credits: int


class UserBody(TypedDict):
    name: str


class UserResponse(TypedDict):
    id: str
    tenant_id: str
    name: str
    created_at: str


class UsersResponse(TypedDict):
    items: list["UserResponse"]


class ValuesResponse(TypedDict):
    fields: list["AnswerFieldResponse"]
    series: Union["SeriesResponse", None]


class VirtualKeyBody(TypedDict):
    name: str
    api: "ModelApi"
    base_url: str
    secret_key: str
    is_default: NotRequired[bool]


class VirtualKeyResponse(TypedDict):
    id: str
    account_id: str
    name: str
    api: "ModelApi"
    base_url: str
    hint: str
    is_default: bool
    created_at: str
    revoked_at: Union[str, None]


class VirtualKeysResponse(TypedDict):
    items: list["VirtualKeyResponse"]


class WarningResponse(TypedDict):
    field: str
    text: str


class WebhookBody(TypedDict):
    name: str
    url: str
    kinds: list[str]
    job_id: NotRequired[Union[str, None]]


class WebhookPatchBody(TypedDict):
    name: NotRequired[Union[str, None]]
    url: NotRequired[Union[str, None]]
    kinds: NotRequired[Union[list[str], None]]
    enabled: NotRequired[Union[bool, None]]


class WebhookResponse(TypedDict):
    id: str
    name: str
    url: str
    kinds: list[str]
    job_id: Union[str, None]
    enabled: bool
    disabled_reason: Union[str, None]
    failing_since: Union[str, None]
    last_error: Union[str, None]
    last_sent_at: Union[str, None]
    created_at: str


class WebhooksResponse(TypedDict):
    items: list["WebhookResponse"]


class WindowAuthorResponse(TypedDict):
    kind: "SteeredBy"
    name: Union[str, None]


class WorkerResponse(TypedDict):
    name: str
    kind: str
    started_at: str
    seen_at: str
    is_alive: bool
    version: str
    in_flight: Union[int, None]
    capacity: Union[int, None]
    labels: list[str]


class WorkersResponse(TypedDict):
    items: list["WorkerResponse"]


class FieldProblem(TypedDict):
    field: str
    value: str
    fix: str


class Problem(TypedDict):
    """RFC 9457"""

    type: str
    title: str
    status: int
    detail: str
    errors: list["FieldProblem"]
    request_id: Union[str, None]


class JobPatch(TypedDict, total=False):
    """A merge patch: fields that are left out stay, null takes one away."""

    name: str
    description: str
    rules: "list[RuleDocument]"
    planner: "Union[PlannerDocument, Literal['off', 'advise', 'act'], None]"


class ApplyManifestFields(ManifestDocument):
    dry_run: NotRequired[bool]
    prune: NotRequired[bool]


class ArchiveJobFields(TypedDict):
    if_match: NotRequired[Union[int, str]]


class ChangeEndpointBody(TypedDict):
    """A JSON merge patch of the endpoint as it is written: fields that are left out stay, null takes one away, another baseline or target replaces the present one"""

    name: NotRequired[str]
    every: NotRequired[Union[Union[int, str], None]]
    every_ms: NotRequired[Union[int, None]]
    cron: NotRequired[Union[str, None]]
    timezone: NotRequired[Union[str, None]]
    on_demand: NotRequired[Union[bool, None]]
    min_interval: NotRequired[Union[Union[int, str], None]]
    min_interval_ms: NotRequired[Union[int, None]]
    max_interval: NotRequired[Union[Union[int, str], None]]
    max_interval_ms: NotRequired[Union[int, None]]
    backoff: NotRequired[Union[Literal["doubling", "none"], None]]
    url: NotRequired[Union[str, None]]
    method: NotRequired[
        Union[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], None]
    ]
    headers: NotRequired[Union[dict[str, Union[str, None]], None]]
    secret_headers: NotRequired[Union[dict[str, Union[str, None]], None]]
    body: NotRequired[Union[str, dict[str, Any], list[Any], None]]
    max_redirects: NotRequired[Union[int, None]]
    success_statuses: NotRequired[Union[list[int], None]]
    success_when: NotRequired[Union[str, None]]
    command: NotRequired[Union[list[str], None]]
    folder: NotRequired[Union[str, None]]
    graph: NotRequired[Union[str, None]]
    input: NotRequired[Union[dict[str, Any], None]]
    limits: NotRequired[Union[dict[str, Any], None]]
    grant: NotRequired[Union[str, None]]
    account: NotRequired[Union[str, None]]
    function: NotRequired[Union[str, None]]
    queue: NotRequired[Union[str, None]]
    topic: NotRequired[Union[str, None]]
    exchange: NotRequired[Union[str, None]]
    password: NotRequired[Union[str, None]]
    await_result: NotRequired[Union[bool, None]]
    reply_to: NotRequired[Union[str, None]]
    timeout: NotRequired[Union[Union[int, str], None]]
    timeout_ms: NotRequired[Union[int, None]]


class ChangeEndpointFields(ChangeEndpointBody):
    if_match: NotRequired[Union[int, str]]


class ChangeJobBody(JobPatch, total=False):
    pass


class ChangeJobFields(ChangeJobBody):
    if_match: NotRequired[Union[int, str]]


class ChangeScheduleBody(TypedDict):
    """A JSON merge patch: fields that are left out stay, null takes one away"""

    cron: NotRequired[str]
    timezone: NotRequired[Union[str, None]]
    name: NotRequired[Union[str, None]]
    input: NotRequired[Union[dict[str, Any], None]]
    concurrency_policy: NotRequired[Union[Literal["forbid", "allow", "replace"], None]]
    limits: NotRequired[Union[dict[str, Any], None]]
    requires: NotRequired[Union[list[str], None]]
    enabled: NotRequired[Union[bool, None]]


class ChangeScheduleFields(ChangeScheduleBody):
    if_match: NotRequired[Union[int, str]]


class CountMatchingFields(TypedDict):
    job: NotRequired[Union[str, None]]
    search: NotRequired[Union[str, None]]
    state: NotRequired[Union["EndpointState", None]]


class CreateAccountFields(AccountBody):
    idempotency_key: NotRequired[str]


class CreateChannelFields(ChannelBody):
    idempotency_key: NotRequired[str]


class CreateEndpointFields(EndpointDocument):
    idempotency_key: NotRequired[str]


class CreateGrantFields(GrantBody):
    idempotency_key: NotRequired[str]


class CreateJobFields(JobFields):
    idempotency_key: NotRequired[str]


class CreateKeyFields(KeyBody):
    idempotency_key: NotRequired[str]


class CreateKeyOfJobFields(JobKeyBody):
    idempotency_key: NotRequired[str]


class CreateRouteFields(RouteBody):
    idempotency_key: NotRequired[str]


class CreateScheduleFields(ScheduleBody):
    idempotency_key: NotRequired[str]


class CreateTenantFields(TenantBody):
    idempotency_key: NotRequired[str]


class CreateUserFields(UserBody):
    idempotency_key: NotRequired[str]


class CreateVirtualKeyFields(VirtualKeyBody):
    idempotency_key: NotRequired[str]


class CreateWebhookFields(WebhookBody):
    idempotency_key: NotRequired[str]


class DeleteEndpointFields(TypedDict):
    dry_run: NotRequired[bool]


class DeleteJobFields(TypedDict):
    dry_run: NotRequired[bool]


class DeleteScheduleFields(TypedDict):
    if_match: NotRequired[Union[int, str]]


class DeleteTenantFields(TypedDict):
    confirm: str


class GetAccountUsageFields(TypedDict):
    group_by: NotRequired["UsageGroup"]
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]


class GetActivityFields(TypedDict):
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    buckets: NotRequired[int]
    job: NotRequired[Union[str, None]]
    endpoint: NotRequired[Union[str, None]]


class GetJobStripsFields(TypedDict):
    job: NotRequired[Union[list[str], None]]


class GetPlannerDaysFields(TypedDict):
    days: NotRequired[int]


class GetScoreFields(TypedDict):
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    lanes: NotRequired[int]
    endpoint: NotRequired[Union[list[str], None]]
    runs: NotRequired[int]
    value: NotRequired[Union[list[str], None]]
    fields: NotRequired[bool]


class GetStatesFields(TypedDict):
    job: NotRequired[Union[str, None]]


class GetTimelineFields(TypedDict):
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    limit: NotRequired[int]


class GetValuesFields(TypedDict):
    field: NotRequired[Union[str, None]]
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]


class ListAccountsFields(TypedDict):
    name: NotRequired[Union[str, None]]
    limit: NotRequired[int]


class ListAuditFields(TypedDict):
    actor: NotRequired[Union[str, None]]
    action: NotRequired[Union[str, None]]
    subject: NotRequired[Union[str, None]]
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    limit: NotRequired[int]


class ListDeliveriesFields(TypedDict):
    channel_id: NotRequired[Union[str, None]]
    webhook_id: NotRequired[Union[str, None]]
    status: NotRequired[Union["DeliveryStatus", None]]
    limit: NotRequired[int]


class ListEndpointsFields(TypedDict):
    job: NotRequired[Union[str, None]]
    name: NotRequired[Union[str, None]]
    search: NotRequired[Union[str, None]]
    state: NotRequired[Union["EndpointState", None]]
    sort: NotRequired["EndpointOrder"]
    limit: NotRequired[int]


class ListGrantsFields(TypedDict):
    limit: NotRequired[int]


class ListGraphsFields(TypedDict):
    graph_id: NotRequired[Union[str, None]]
    limit: NotRequired[int]


class ListIdsFields(TypedDict):
    kind: "IdKind"
    begins: str


class ListIncidentsFields(TypedDict):
    open: NotRequired[Union[bool, None]]
    kind: NotRequired[Union["IncidentKind", None]]
    job: NotRequired[Union[str, None]]
    limit: NotRequired[int]


class ListJobsFields(TypedDict):
    name: NotRequired[Union[str, None]]
    search: NotRequired[Union[str, None]]
    archived: NotRequired[bool]
    limit: NotRequired[int]


class ListLedgerFields(TypedDict):
    limit: NotRequired[int]


class ListRunsFields(TypedDict):
    endpoint: NotRequired[Union[str, None]]
    job: NotRequired[Union[str, None]]
    status: NotRequired[Union[list["RunStatus"], None]]
    source: NotRequired[Union[list["Source"], None]]
    is_manual: NotRequired[Union[bool, None]]
    error: NotRequired[Union[str, None]]
    status_code: NotRequired[Union[int, None]]
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    limit: NotRequired[int]


class ListScheduleRunEventsFields(TypedDict):
    after: NotRequired[Union[int, None]]
    limit: NotRequired[int]


class ListScheduleRunsFields(TypedDict):
    limit: NotRequired[int]


class ListSchedulesFields(TypedDict):
    name: NotRequired[Union[str, None]]
    limit: NotRequired[int]


class ListSessionsFields(TypedDict):
    endpoint: NotRequired[Union[str, None]]
    job: NotRequired[Union[str, None]]
    brain: NotRequired[Union[str, None]]
    search: NotRequired[Union[str, None]]
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    limit: NotRequired[int]


class ListSteeringFields(TypedDict):
    from_: NotRequired[Union[Instant, None]]
    to: NotRequired[Union[Instant, None]]
    limit: NotRequired[int]


class ListSuggestionsFields(TypedDict):
    limit: NotRequired[int]


class ListTenantsFields(TypedDict):
    limit: NotRequired[int]


class ListWorkersFields(TypedDict):
    limit: NotRequired[int]


class PreviewFields(TypedDict):
    count: NotRequired[int]


class PreviewDraftFields(DraftBody):
    count: NotRequired[int]


class RunsOfSessionFields(TypedDict):
    limit: NotRequired[int]


class SearchFields(TypedDict):
    q: str
    limit: NotRequired[int]
