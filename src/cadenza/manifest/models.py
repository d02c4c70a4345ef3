"""The documents, as pydantic models: forgiving about how a thing is written, strict about what.

Lengths and counts are limited here, so that a schema can say them; what a schema cannot say (cron,
zones, addresses, expressions) is checked by `domain/definition.py`.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, model_validator

from cadenza.domain import target_validation as most
from cadenza.domain.definition import MAX_DESCRIPTION
from cadenza.domain.graph import (
    MAX_CALLS,
    MAX_CPUS,
    MAX_GPUS,
    MAX_LIMIT_CREDITS,
    MAX_MEMORY_MB,
    MAX_STEPS,
    MAX_TOKENS,
    MIN_MEMORY_MB,
)
from cadenza.domain.planner_policy import (
    MAX_EXTRA_RUNS,
    MAX_MODEL,
    MAX_MONEY,
    MAX_PROMPT,
    RELAXED,
    USUAL,
)
from cadenza.domain.planner_policy import MAX_TOKENS as MAX_PLANNER_TOKENS
from cadenza.domain.queue_validation import MAX_PASSWORD
from cadenza.domain.rule import MAX_RULES, MAX_RUNS
from cadenza.domain.schedule import MAX_LABELS, Concurrency
from cadenza.domain.target import KEPT
from cadenza.manifest.field_types import (
    GRAPH_EXAMPLES,
    Command,
    Document,
    Duration,
    DurationOrZero,
    Expression,
    GraphId,
    Headers,
    Label,
    Milliseconds,
    ModeWord,
    Relax,
    Status,
    Topic,
)
from cadenza.manifest.names import AccountName, Name

MAX_JOBS = MAX_ENDPOINTS_PER_JOB = MAX_SCHEDULES = 10_000
MAX_ENDPOINTS = 20_000  # of all jobs of a file: it is compared and written in one go


def _or_a_mode(schema: dict[str, Any]) -> None:
    """The schema of what is an object, or one of its modes as a word."""
    whole = dict(schema)
    schema.clear()
    modes = {"type": "string", "enum": ["off", "advise", "act"]}
    schema.update(description=whole.pop("description"), anyOf=[modes, whole])


class LimitsDocument(Document):
    """What one run may use."""

    time: Duration | None = Field(default=None, description="10m where it is left out.")
    memory_mb: Annotated[int, Field(ge=MIN_MEMORY_MB, le=MAX_MEMORY_MB)] | None = Field(
        default=None, description="512 where it is left out."
    )
    steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = Field(
        default=None, description="Supersteps of the graph; 25 where it is left out."
    )
    calls: Annotated[int, Field(ge=1, le=MAX_CALLS)] | None = Field(
        default=None, description="Of models; left out, the account's credits are the limit."
    )
    tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None
    credits: Annotated[int, Field(ge=1, le=MAX_LIMIT_CREDITS)] | None = None
    cpus: Annotated[float, Field(ge=0, le=MAX_CPUS, allow_inf_nan=False)] | None = Field(
        default=None,
        description="On a cluster these, gpus and memory_mb are reserved for a run that names "
        "cpus or gpus; other workers do not look at them.",
    )
    gpus: Annotated[float, Field(ge=0, le=MAX_GPUS, allow_inf_nan=False)] | None = Field(
        default=None, description="A part of one, or whole ones; see cpus."
    )


class EndpointDocument(Document):
    """An endpoint: what is called, its baseline (one of every, cron, on_demand), its guardrails."""

    name: Name
    every: Duration | None = None
    every_ms: Milliseconds | None = Field(default=None, description="The same as `every`.")
    cron: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        default=None, description="Five fields, or @hourly and the like.", examples=["0 9 * * mon"]
    )
    timezone: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None,
        description="Of the cron; UTC where it is left out.",
        examples=["Europe/Paris"],
    )
    on_demand: bool | None = Field(
        default=None, description="Runs only when a hint or a person asks."
    )
    min_interval: Duration | None = None
    min_interval_ms: Milliseconds | None = Field(
        default=None, description="The same as `min_interval`."
    )
    max_interval: Duration | None = None
    max_interval_ms: Milliseconds | None = Field(
        default=None, description="The same as `max_interval`."
    )
    backoff: Literal["doubling", "none"] | None = Field(
        default=None,
        description="Failures in a row double an interval, up to 32 times: `none` switches that "
        "off; `doubling` where it is left out.",
    )
    url: Annotated[str, Field(min_length=1, max_length=most.MAX_URL)] | None = None
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] | None = None
    headers: Headers | None = None
    secret_headers: Headers | None = Field(
        default=None,
        description=f"Stored encrypted and never shown; {KEPT!r} keeps the one that is stored.",
    )
    body: str | dict[str, Any] | list[Any] | None = Field(
        default=None, description="Text, or JSON, which is sent as such."
    )
    max_redirects: Annotated[int, Field(ge=0, le=most.MAX_REDIRECTS)] | None = None
    success_statuses: Annotated[list[Status], Field(max_length=most.MAX_STATUSES)] | None = Field(
        default=None, description="What counts as success; every 2xx where left out."
    )
    success_when: Expression | None = Field(
        default=None,
        description="A CEL expression over `status` and `body`.",
        examples=["body.ok == true"],
    )

    command: Command | None = Field(
        default=None, description="A command as a list, where the installation allows commands."
    )
    folder: Annotated[str, Field(min_length=1, max_length=most.MAX_FOLDER)] | None = None

    graph: GraphId | None = Field(
        default=None,
        description="A graph as provider:name; what it returns is the response.",
        examples=GRAPH_EXAMPLES,
    )
    input: dict[str, Any] | None = Field(
        default=None, description="What the graph is given; at most 64 KiB."
    )
    limits: LimitsDocument | None = None
    grant: Annotated[UUID, Field(strict=False)] | None = Field(
        default=None, description="That the graph runs under; left out: one is made for it."
    )
    account: AccountName | None = Field(
        default=None, description="Who pays for a grant that is made, by name or id."
    )
    function: Annotated[str, Field(min_length=3, max_length=201)] | None = Field(
        default=None, description="Of a program that runs it, like shop:queue_depth."
    )
    queue: Annotated[str, Field(min_length=1, max_length=most.MAX_URL)] | None = Field(
        default=None,
        description="The address of a broker, without a password: redis://, rediss://, amqp://, "
        "amqps://, nats://, nats+tls://, kafka:// or kafka+tls://.",
        examples=["redis://broker.example:6379/0", "amqp://shop@broker.example/shop"],
    )
    topic: Topic | None = Field(
        default=None,
        description="Where a message goes: a Redis stream, a queue of RabbitMQ (or a routing key "
        "of its exchange), a NATS subject or a Kafka topic.",
    )
    exchange: Topic | None = Field(default=None, description="Of RabbitMQ.")
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)] | None = Field(
        default=None,
        description="Of the broker: stored encrypted and never shown; "
        f"{KEPT!r} keeps the one that is stored.",
    )
    await_result: bool | None = Field(
        default=None,
        description="The run lasts until its result is reported, or, where an answer is 202, "
        "until its Location has it; at most its timeout.",
    )
    reply_to: Topic | None = Field(
        default=None,
        description="A stream, queue or subject of the same broker where consumers report.",
    )

    timeout: Duration | None = None
    timeout_ms: Milliseconds | None = Field(default=None, description="The same as `timeout`.")


class ThenDocument(Document):
    """What a rule does: exactly one action, for the endpoint itself or for a sibling."""

    interval: Duration | None = Field(default=None, description="Run at this interval.")
    run_now: bool | None = None
    run_in: Duration | None = None
    run_at: Expression | None = Field(
        default=None, description="An expression that gives an instant, as text or timestamp."
    )
    pause: Duration | None = None
    resume: bool | None = None
    clear: bool | None = Field(default=None, description="Drop the planner's hints.")
    endpoint: Name | None = Field(default=None, description="A sibling, by its name.")


class RuleDocument(Document):
    """A declared rule; it comes before every detector."""

    model_config = ConfigDict(populate_by_name=True)  # besides what every document has

    name: Name
    endpoint: Name | None = Field(
        default=None, description="Whose answers it reads; left out: those of each endpoint."
    )
    when: Expression = Field(
        description="A CEL expression over `response`, `health`, `endpoint`, `siblings`, `now`.",
        examples=["response.queue_depth > 300"],
    )
    runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] = Field(
        default=1, alias="for", description="How many runs in a row it must hold for."
    )
    then: ThenDocument = Field(examples=[{"interval": "30s"}])
    ttl: Duration | None = None
    cooldown: Duration | None = None
    reason: Annotated[str, Field(max_length=500)] = ""


class PlannerDocument(Document):
    """What planners may do with a job; a word alone is the mode of all three."""

    model_config = ConfigDict(json_schema_extra=_or_a_mode)  # besides what every document has

    rules: ModeWord | None = Field(
        default=None, description="What declared rules may do; left out: as the tenant's owner set."
    )
    detectors: ModeWord | None = Field(
        default=None, description="The same of detectors, which look for what nobody declared."
    )
    llm: ModeWord | None = Field(default=None, description="The same of a model.")
    relax: Relax | None = Field(
        default=None,
        description="How many times its baseline's interval a calm endpoint may be slowed to: "
        f"true is {RELAXED}, false (or left out) never.",
        examples=[True, 2],
    )
    extra_runs: Annotated[float, Field(ge=0, le=MAX_EXTRA_RUNS)] | None = Field(
        default=None,
        description="What detectors may add in a day, as a share of the job's baseline runs; "
        f"{USUAL.extra_runs:g} where it is left out.",
    )
    max_pause: DurationOrZero | None = Field(
        default=None,
        description="The longest pause by a planner, up to 30d; 0: none at all; left out: the "
        "endpoint's max_interval, or 1d where it has none.",
        examples=["6h", 0],
    )
    min_gap: Duration | None = Field(
        default=None,
        description="Between two looks of a model at an endpoint, from 1m to 1d; 5m where it is "
        "left out.",
    )
    model: Annotated[str, Field(min_length=1, max_length=MAX_MODEL)] | None = Field(
        default=None, description="Left out: the installation's."
    )
    prompt: Annotated[str, Field(min_length=1, max_length=MAX_PROMPT)] | None = Field(
        default=None, description="An addition to the prompt of the model."
    )
    tokens_per_day: Annotated[int, Field(ge=0, le=MAX_PLANNER_TOKENS)] | None = Field(
        default=None,
        description="That sessions of a model may use for this job; 0: no limit; left out: the "
        "installation's.",
    )
    money_per_day: Annotated[float, Field(ge=0, le=MAX_MONEY)] | None = Field(
        default=None, description="The same in dollars."
    )
    tokens_per_session: Annotated[int, Field(ge=1, le=MAX_PLANNER_TOKENS)] | None = Field(
        default=None, description="That one session may use; left out: the installation's."
    )
    account: Name | None = Field(
        default=None, description="The account that pays for the sessions of a model."
    )
    mode: ModeWord | None = Field(
        default=None,
        json_schema_extra={"deprecated": True},
        description="The same for rules, detectors and llm, where they are left out.",
    )
    budget: Annotated[float, Field(ge=0.1, le=100)] | None = Field(
        default=None,
        json_schema_extra={"deprecated": True},
        description="Times the baseline's runs, in place of extra_runs: 1.5 is 0.5 extra.",
    )

    @model_validator(mode="before")
    @classmethod
    def _a_word_is_a_mode(cls, value: Any) -> Any:
        return {"mode": value} if isinstance(value, str) else value


class JobFields(Document):
    name: Name
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION)] = Field(
        default="", description="In plain words; for a planner it is the rule book."
    )
    rules: Annotated[list[RuleDocument], Field(max_length=MAX_RULES)] = Field(
        default_factory=list[RuleDocument]
    )
    planner: PlannerDocument | None = None


class JobDocument(JobFields):
    """A job with its endpoints."""

    endpoints: Annotated[list[EndpointDocument], Field(max_length=MAX_ENDPOINTS_PER_JOB)] = Field(
        default_factory=list[EndpointDocument]
    )


class ScheduleFields(Document):
    """A graph, its input, and when it runs."""

    graph_id: GraphId = Field(description="provider:name.", examples=GRAPH_EXAMPLES)
    cron: Annotated[str, Field(min_length=1, max_length=128)] = Field(
        description="Five fields, or @hourly and the like.", examples=["0 9 * * mon-fri"]
    )
    timezone: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None,
        description="Of the cron; UTC where it is left out.",
        examples=["Europe/Paris"],
    )
    name: Name | None = None
    input: dict[str, Any] | None = Field(
        default=None,
        description="What the graph is given; at most 64 KiB. The price of its `model` is known.",
        examples=[{"topic": "autumn"}],
    )
    concurrency_policy: Annotated[Concurrency, Field(strict=False)] | None = Field(
        default=None,
        description="Of a slot that is due while a run is under way: forbid (it waits, and is "
        "skipped when the next one is due) where left out, allow, replace (the run is cancelled).",
    )
    limits: LimitsDocument | None = None
    requires: Annotated[list[Label], Field(max_length=MAX_LABELS)] | None = Field(
        default=None,
        description="Labels that a worker must have.",
        examples=[["gpu", "region=eu"]],
    )
    enabled: bool | None = Field(default=None, description="true where it is left out.")


class ScheduleDocument(ScheduleFields):
    """A schedule of a file, which is known by its name."""

    name: Name  # type: ignore[assignment]
    account: AccountName | None = Field(
        default=None, description="Who pays, by name or id; left out: the only account."
    )


class ManifestDocument(Document):
    """A whole file of jobs, and of schedules of graphs."""

    version: Annotated[int, Field(ge=1, le=1)] = 1
    jobs: Annotated[list[JobDocument], Field(max_length=MAX_JOBS)]
    schedules: Annotated[list[ScheduleDocument], Field(max_length=MAX_SCHEDULES)] = Field(
        default_factory=list[ScheduleDocument]
    )


class JobOfRawEndpoints(JobFields):
    """Its endpoints are built one by one, so that a wrong one does not spoil the others."""

    endpoints: Annotated[list[Any], Field(max_length=MAX_ENDPOINTS_PER_JOB)] = Field(
        default_factory=list[Any]
    )


class ManifestOfRawJobs(ManifestDocument):
    jobs: Annotated[list[Any], Field(max_length=MAX_JOBS)]
    schedules: Annotated[list[Any], Field(max_length=MAX_SCHEDULES)] = Field(
        default_factory=list[Any]
    )


def manifest_schema() -> dict[str, Any]:
    """For editors: JSON schema in draft 7, which all of them know; nothing needs a later one."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **ManifestDocument.model_json_schema(),
        "title": "cadenza.yaml",
    }
