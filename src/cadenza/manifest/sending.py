"""Definitions as they are sent to a server: with secrets, unlike what is written to a file."""

from collections.abc import Sequence
from typing import Any

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.target import HttpTarget
from cadenza.manifest.writing import endpoint_document, job_document


def to_send(jobs: Sequence[JobDefinition]) -> dict[str, Any]:
    documents = [
        {**job_document(job), "endpoints": [_with_secrets(each) for each in job.endpoints]}
        for job in jobs
    ]
    return {"version": 1, "jobs": documents}


def _with_secrets(endpoint: EndpointDefinition) -> dict[str, Any]:
    document = endpoint_document(endpoint)
    target = endpoint.target
    if isinstance(target, HttpTarget) and target.secret_headers:
        document["secret_headers"] = {
            name: secret.value for name, secret in target.secret_headers.items()
        }
    return document
