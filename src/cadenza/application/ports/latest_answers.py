from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from cadenza.domain.run import Body


class LatestAnswers(Protocol):
    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        """By job and endpoint, the body of the last run where that went well; in one query."""
        ...
