"""From definitions back to documents: what has its usual value is left out."""

from collections.abc import Sequence
from typing import Any

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import Baseline, CronLine, Every
from cadenza.domain.function_target import DEFAULT_TIME, FunctionTarget
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.domain.target import DEFAULT_TIMEOUT, KEPT, HttpTarget, Target, secrets_of
from cadenza.manifest.durations import format_duration
from cadenza.manifest.limits import limits_document
from cadenza.manifest.planner import planner_document
from cadenza.manifest.rules import rule_document, without_empty
from cadenza.manifest.schedules import declared_document


def job_document(definition: JobDefinition) -> dict[str, Any]:
    return without_empty(
        {
            "name": definition.name,
            "description": definition.description,
            "planner": planner_document(definition.planner),
            "rules": [rule_document(rule) for rule in definition.rules],
            "endpoints": [endpoint_document(endpoint) for endpoint in definition.endpoints],
        }
    )


def endpoint_document(definition: EndpointDefinition) -> dict[str, Any]:
    """Secrets are never written, only that they are there."""
    least, most = definition.min_interval, definition.max_interval
    return without_empty(
        {
            "name": definition.name,
            **_baseline(definition.baseline),
            "min_interval": format_duration(least) if least else None,
            "max_interval": format_duration(most) if most else None,
            "backoff": None if definition.backs_off else "none",
            **_target(definition.target),
        }
    )


def manifest_to_send(
    jobs: Sequence[JobDefinition], schedules: Sequence[DeclaredSchedule] = ()
) -> dict[str, Any]:
    """For the server: with its secrets, unlike everything else that is written here."""
    documents = [job_document(job) for job in jobs]
    for job, document in zip(jobs, documents, strict=True):
        for endpoint, fields in zip(job.endpoints, document.get("endpoints", ()), strict=True):
            secrets = {name: key.value for name, key in secrets_of(endpoint.target).items()}
            if isinstance(endpoint.target, QueueTarget):
                fields.update(secrets)
            elif secrets:
                fields["secret_headers"] = secrets
    declared = [declared_document(schedule) for schedule in schedules]
    return {"version": 1, "jobs": documents, "schedules": declared}


def _baseline(baseline: Baseline) -> dict[str, Any]:
    if isinstance(baseline, Every):
        return {"every": format_duration(baseline.interval)}
    if isinstance(baseline, CronLine):
        zone = baseline.timezone if baseline.timezone != "UTC" else None
        return {"cron": baseline.expression, "timezone": zone}
    return {"on_demand": True}


def _target(target: Target) -> dict[str, Any]:
    if isinstance(target, GraphTarget):
        return {
            "graph": target.graph_id,
            "input": dict(target.input),
            "limits": limits_document(target.limits),
            "grant": None if target.grant_id is None else str(target.grant_id),
            "account": target.account,
        }
    usual = DEFAULT_TIME if isinstance(target, FunctionTarget) else DEFAULT_TIMEOUT
    timeout = format_duration(target.timeout) if target.timeout != usual else None
    if isinstance(target, FunctionTarget):
        return {"function": target.path, "timeout": timeout}
    if isinstance(target, QueueTarget):
        return {
            "queue": target.url,
            "topic": target.topic,
            "exchange": target.exchange or None,
            "password": KEPT if target.password is not None else None,
            "headers": dict(target.headers),
            "body": target.body,
            "await_result": target.awaits_result or None,
            "reply_to": target.reply_to,
            "timeout": timeout,
        }
    if not isinstance(target, HttpTarget):
        return {"command": list(target.command), "folder": target.folder, "timeout": timeout}
    usual_method = "GET" if target.body is None else "POST"
    return {
        "url": target.url,
        "method": target.method if target.method != usual_method else None,
        "headers": dict(target.headers),
        "secret_headers": dict.fromkeys(target.secret_headers, KEPT),
        "body": target.body,
        "max_redirects": target.max_redirects or None,
        "success_statuses": list(target.success_statuses),
        "success_when": target.success_when,
        "await_result": target.awaits_result or None,
        "timeout": timeout,
    }
