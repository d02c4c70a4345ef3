"""What endpoints answered last."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.domain.run import Body


class MemoryLatestAnswers:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        answers = {name: self._answers_of(tenant_id, name) for name in jobs}
        return {name: bodies for name, bodies in answers.items() if bodies}

    def _answers_of(self, tenant_id: UUID, job_name: str) -> dict[str, Body]:
        """By endpoint; one that is too long is not among them."""
        job_id = self._tables.job_names.get((tenant_id, job_name))
        rows = self._tables.members_of(job_id) if job_id is not None else []
        return {
            row.endpoint.name: row.recent[0].body
            for row in rows
            if row.recent and row.recent[0].is_well and row.recent[0].body is not None
        }
