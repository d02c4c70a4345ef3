"""The tools that read: what targets answered, in pages that fit, without any secret of the job.

A target may send back what it was sent, or what a sibling was sent: bodies are masked when they are
stored, with the secrets of their own endpoint, and here once more with those of the whole job.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cadenza.application.arguments import Arguments
from cadenza.application.descriptions import (
    Answer,
    describe_history,
    describe_response,
    describe_sibling,
)
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.store import Store
from cadenza.domain.analysis import AnalysisContext, Response, SiblingState
from cadenza.domain.redaction import redacted
from cadenza.domain.target import Secret
from cadenza.domain.track_record import COUNTED_RUNS, TrackRecord, track_record_of

MAX_PAGE = 16_000  # characters of the entries of one answer
MAX_OFFSET = 100_000


@dataclass(eq=False)
class ReadingTools:
    """Of one session."""

    context: AnalysisContext
    store: Store
    analysis_queue: AnalysisQueue
    clock: Clock
    _secrets: Sequence[Secret] | None = field(default=None, init=False)

    async def latest_response(self, _: Arguments) -> Answer:
        responses = await self._responses(limit=1, offset=0)
        if not responses:
            return {"ok": True, "found": False, "note": "it has not run yet"}
        return {"ok": True, "found": True, **describe_response(responses[0])}

    async def response_history(self, arguments: Arguments) -> Answer:
        limit = arguments.whole("limit", 1, 10, default=10)
        offset = arguments.whole("offset", 0, MAX_OFFSET, default=0)
        responses = await self._responses(limit + 1, offset)
        return _page("responses", describe_history(responses), limit, offset)

    async def sibling_latest_responses(self, arguments: Arguments) -> Answer:
        limit = arguments.whole("limit", 1, 50, default=20)
        offset = arguments.whole("offset", 0, MAX_OFFSET, default=0)
        endpoint_id, now = self.context.endpoint.id, self.clock.now()
        siblings = await self.analysis_queue.siblings(endpoint_id, limit=limit + 1, offset=offset)
        secrets = await self._secrets_of_job()
        described = [
            describe_sibling(_masked_sibling(sibling, secrets), now) for sibling in siblings
        ]
        count = max(len(self.context.sibling_names), offset + len(siblings))
        return {**_page("siblings", described, limit, offset), "count": count}

    async def track_record(self) -> TrackRecord:
        last = self.context.last_analysis
        endings = await self.analysis_queue.endings(self.context.endpoint.id, COUNTED_RUNS)
        return track_record_of(endings, last.at if last is not None else None)

    async def _responses(self, limit: int, offset: int) -> list[Response]:
        endpoint_id = self.context.endpoint.id
        responses = await self.analysis_queue.responses(endpoint_id, limit=limit, offset=offset)
        secrets = await self._secrets_of_job()
        return [_masked(response, secrets) for response in responses]

    async def _secrets_of_job(self) -> Sequence[Secret]:
        if self._secrets is None:
            endpoint = self.context.endpoint
            async with self.store.transaction() as tx:
                self._secrets = await tx.secrets_of_job(endpoint.tenant_id, endpoint.job_id)
        return self._secrets


def _masked(response: Response, secrets: Sequence[Secret]) -> Response:
    return replace(response, body=redacted(response.body, secrets))


def _masked_sibling(sibling: SiblingState, secrets: Sequence[Secret]) -> SiblingState:
    latest = sibling.latest and _masked(sibling.latest, secrets)
    return replace(sibling, latest=latest)


def _page(name: str, entries: list[Answer], limit: int, offset: int) -> Answer:
    """Whole entries, as many as were asked for and fit; one more was read to know of the rest."""
    fitting = entries[:1]
    length = sum(map(_length, fitting))
    for entry in entries[1:limit]:
        length += _length(entry)
        if length > MAX_PAGE:
            break
        fitting.append(entry)
    more = len(entries) > len(fitting)
    page: Answer = {"ok": True, name: fitting, "more": more}
    return {**page, "next_offset": offset + len(fitting)} if more else page


def _length(entry: Answer) -> int:
    return len(json.dumps(entry, ensure_ascii=False, default=str))
