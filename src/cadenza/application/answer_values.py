"""Time series of the numbers in an endpoint's responses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cadenza.application.ports.catalogue import EndpointReads, JobReads
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.score import ScoreReads
from cadenza.application.score_values import (
    ANSWERS,
    POINTS,
    Field,
    Path,
    Series,
    fields_of_rules,
    telling_fields,
)


@dataclass(frozen=True, slots=True)
class AnswerValues:
    reads: ScoreReads
    endpoints: EndpointReads
    jobs: JobReads
    expressions: Expressions

    async def of_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, path: Path, from_at: datetime, to_at: datetime
    ) -> tuple[Sequence[Field], Series | None]:
        """The available fields, those that rules read first, and the series of one of them."""
        stored = await self.endpoints.get_endpoint(tenant_id, endpoint_id)
        job = await self.jobs.get_job(tenant_id, stored.endpoint.job_id)
        of_rules = fields_of_rules(job.job.rules, [stored], self.expressions)
        bodies = await self.reads.recent_bodies([endpoint_id], ANSWERS)
        known = {field.path: field for field in telling_fields(bodies, [stored])}
        fields = [*of_rules, *(known[path] for path in known if path not in _paths(of_rules))]
        if not path and not fields:
            return fields, None
        wanted = next((field for field in fields if field.path == path), None)
        if wanted is None:
            wanted = fields[0] if not path else Field(endpoint_id, stored.endpoint.name, path)
        span = (from_at, to_at, POINTS)
        points = await self.reads.answer_values(endpoint_id, wanted.path, *span)
        return fields, Series(wanted, points)


def _paths(fields: Sequence[Field]) -> frozenset[Path]:
    return frozenset(field.path for field in fields)
