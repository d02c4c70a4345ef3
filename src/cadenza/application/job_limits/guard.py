"""Whether a job is among those that the caller may see. Any other job does not exist for them, as
if it were another tenant's."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from cadenza.domain.errors import NotAllowed, NotFound
from cadenza.domain.people import JobLimits

OF_WHOLE_TENANT = "this belongs to the whole tenant, and your role is for single jobs; ask an owner"


@dataclass(frozen=True, slots=True)
class Guard:
    limits: JobLimits

    def is_readable(self, job_id: UUID | None) -> bool:
        return self.limits.readable is None or job_id in self.limits.readable

    def is_operable(self, job_id: UUID) -> bool:
        return self.limits.operable is None or job_id in self.limits.operable

    def check_readable(self, job_id: UUID, missing: str | None = None) -> None:
        """`missing` is the error's text where the default does not fit."""
        if not self.is_readable(job_id):
            raise NotFound(missing or f"no job {job_id}")

    def check_operable(self, job_id: UUID, missing: str | None = None) -> None:
        self.check_readable(job_id, missing)
        if not self.is_operable(job_id):
            raise NotAllowed("your role for this job is viewer; ask an owner for more")

    def check_all_operable(self, job_ids: Iterable[UUID]) -> None:
        for job_id in job_ids:
            self.check_operable(job_id)

    def readable_of(self, job_ids: Collection[UUID]) -> list[UUID]:
        return [job_id for job_id in job_ids if self.is_readable(job_id)]
