"""One job or one endpoint: how it is set up, how it is, why it runs when it does."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Operation
from cadenza.client.errors import NoSuchName
from cadenza.client.generated import operations
from cadenza.manifest.yaml_writing import documents_to_yaml
from cadenza.mcp.answers import Fields, Record, baseline_words, name_of
from cadenza.mcp.asking import (
    Duration,
    Endpoint,
    Instant,
    Job,
    off_the_loop,
    together,
    without_none,
)
from cadenza.mcp.bounded import as_json
from cadenza.mcp.registry import reads

Part = Literal["explanation", "health", "next_runs", "rules", "steering", "analyses"]
LONGEST_MANIFEST = 20_000
TOO_LONG = (
    "Its YAML is too long to show: use change for parts of it; `cadenza export` has it whole."
)
USUAL: list[Part] = ["health", "next_runs"]


class JobAnswer(BaseModel):
    job: Fields
    endpoints: Fields
    quota_today: Fields
    last_hour: Fields
    manifest: Annotated[str | None, Field(description="As YAML, as apply_manifest takes it.")] = (
        None
    )
    note: str | None = None


@reads("One job")
async def get_job(
    api: AsyncClient,
    job: Job,
    manifest: Annotated[
        bool, Field(description="Also return the job with its endpoints and rules as YAML.")
    ] = False,
) -> JobAnswer:
    """A job: its description, its rules, what planners may do with it, its endpoints by state, its
    last hour, and its remaining quota for models today.

    Example: {"job": "shop", "manifest": true} before you change its rules.
    """
    stored = await api.call(operations.GET_JOB, job)
    states, quota, strips = await together(
        api.call(operations.GET_STATES, job=stored["id"]),
        api.call(operations.GET_QUOTA_OF_JOB, stored["id"]),
        api.call(operations.GET_JOB_STRIPS, job_id=[stored["id"]]),
    )
    text = await yaml_of(api, stored["name"], LONGEST_MANIFEST) if manifest else None
    note = TOO_LONG if manifest and text is None else None
    hour: dict[str, int] = {}
    for bucket in strips["items"][0]["buckets"] if strips["items"] else ():
        for family, count in bucket["counts"].items():
            hour[family] = hour.get(family, 0) + count
    return JobAnswer(
        job=stored, endpoints=states, quota_today=quota, last_hour=hour, manifest=text, note=note
    )


async def yaml_of(api: AsyncClient, job: str, longest: int) -> str | None:
    """Whole or not at all: a piece of it, applied, would end what the piece lacks."""
    exported = await api.call(operations.EXPORT_MANIFEST)
    documents = [document for document in exported["jobs"] if document["name"] == job]
    if not documents:
        raise NoSuchName(f"there is no job {job!r} that has not ended")
    if len(as_json(documents)) > longest:
        return None  # before seconds are spent on it
    text = await off_the_loop(documents_to_yaml, documents)
    return text if len(text) <= longest else None


@reads("One endpoint, and why it runs next when it does")
async def get_endpoint(
    api: AsyncClient,
    endpoint: Endpoint,
    include: Annotated[list[Part], Field(max_length=6, description="What to add.")] = USUAL,
) -> Record:
    """An endpoint: target, baseline, guardrails, current hints and pauses, failures. `include` adds
    explanation (why its next run is when it is, what was considered, what would change it; for a
    past run use get_run), health (how runs ended), next_runs (with and without hints), rules
    (evaluated now on the last answer), steering (past hints and pauses, who set them and why),
    analyses (when planners analyse it, and what prevents it). Secrets are never included.

    Example, for "why does it run next at nine?": {"endpoint": "shop/queue",
    "include": ["explanation", "steering"]}
    """
    record: dict[str, Any] = await api.call(operations.GET_ENDPOINT, endpoint)
    asked: dict[str, tuple[Operation, Fields]] = {
        "explanation": (operations.EXPLAIN_NEXT_RUN, {}),
        "health": (operations.GET_HEALTH, {}),
        "next_runs": (operations.PREVIEW, {"count": 5}),
        "rules": (operations.JUDGE_RULES, {}),
        "steering": (operations.LIST_STEERING, {"limit": 20}),
        "analyses": (operations.LIST_ANALYSES, {}),
    }
    parts = list(dict.fromkeys(include))
    answers = await together(
        *(api.call(asked[part][0], record["id"], **asked[part][1]) for part in parts)
    )
    fails = f", fails since {record['failing_since']}" if record["failure_count"] else ""
    summary = (
        f"{name_of(record)} runs {baseline_words(record['baseline'])}, "
        f"next at {record['next_run_at'] or 'no time'} ({record['next_source']}){fails}"
    )
    return Record(summary=summary, data={**record, **dict(zip(parts, answers, strict=True))})


@reads("Numbers in an endpoint's answers")
async def get_values(
    api: AsyncClient,
    endpoint: Endpoint,
    field: Annotated[
        str | None,
        Field(
            max_length=200,
            description="Path of the number; without it, the available ones are listed.",
        ),
    ] = None,
    from_at: Instant | None = None,
    to_at: Instant | None = None,
) -> Record:
    """A number in an endpoint's answers over time, and the list of available numbers: first those
    that rules read, then those that change most. Use it before you write a rule.

    Example: {"endpoint": "shop/queue", "field": "depth"}
    """
    values = await api.call(
        operations.GET_VALUES, endpoint, **without_none(field=field, from_=from_at, to=to_at)
    )
    names = ", ".join(one["field"] for one in values["fields"][:20]) or "none"
    series: Fields = values["series"] or {"field": field, "points": []}
    summary = f"{len(series['points'])} values of {series['field']}; fields there are: {names}"
    return Record(summary=summary, data=values)


@reads("Preview a schedule")
async def preview_schedule(
    api: AsyncClient,
    every: Duration | None = None,
    cron: Annotated[str | None, Field(max_length=200, examples=["0 9 * * mon-fri"])] = None,
    timezone: Annotated[str | None, Field(max_length=60, examples=["Europe/Paris"])] = None,
    min_interval: Duration | None = None,
    max_interval: Duration | None = None,
    count: Annotated[int, Field(ge=1, le=50)] = 5,
) -> Record:
    """The next runs of a baseline that is not saved: try a cron or an interval before you save it.

    Examples: {"cron": "0 9 * * mon-fri", "timezone": "Europe/Paris"}; {"every": "5m"}
    """
    draft = without_none(every=every, cron=cron, timezone=timezone, count=count)
    limits = without_none(min_interval=min_interval, max_interval=max_interval)
    preview = await api.call(operations.PREVIEW_DRAFT, **draft, **limits)
    runs = ", ".join(run["at"] for run in preview["next_runs"])
    return Record(summary=f"next: {runs}", data=preview)


TOOLS = (get_job, get_endpoint, get_values, preview_schedule)
