"""From definitions back to documents: what is left out is what goes without saying."""

from collections.abc import Mapping
from typing import Any

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import Baseline, CronLine, Every
from cadenza.domain.target import DEFAULT_TIMEOUT, KEPT, HttpTarget, Target
from cadenza.manifest.durations import format_duration
from cadenza.manifest.rules import planner_document, rule_document


def job_document(definition: JobDefinition) -> dict[str, Any]:
    return _given(
        {
            "name": definition.name,
            "description": definition.description,
            "planner": planner_document(definition.planner_mode, definition.probe_budget),
            "rules": [rule_document(each) for each in definition.rules],
            "endpoints": [endpoint_document(each) for each in definition.endpoints],
        }
    )


def endpoint_document(definition: EndpointDefinition) -> dict[str, Any]:
    """Secrets are never written, only that they are there."""
    least, most = definition.min_interval, definition.max_interval
    return _given(
        {
            "name": definition.name,
            **_baseline(definition.baseline),
            "min_interval": format_duration(least) if least else None,
            "max_interval": format_duration(most) if most else None,
            **_target(definition.target),
        }
    )


def _baseline(baseline: Baseline) -> dict[str, Any]:
    if isinstance(baseline, Every):
        return {"every": format_duration(baseline.interval)}
    if isinstance(baseline, CronLine):
        zone = baseline.timezone if baseline.timezone != "UTC" else None
        return {"cron": baseline.expression, "timezone": zone}
    return {"on_demand": True}


def _target(target: Target) -> dict[str, Any]:
    timeout = format_duration(target.timeout) if target.timeout != DEFAULT_TIMEOUT else None
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
        "timeout": timeout,
    }


def _given(document: Mapping[str, Any]) -> dict[str, Any]:
    """An empty body is one: with it the usual method is POST."""
    return {
        name: value
        for name, value in document.items()
        if value not in (None, "", [], {}) or (name == "body" and value is not None)
    }
