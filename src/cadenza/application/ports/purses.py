"""What the purses of jobs are made of."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from cadenza.domain.endpoint import Baseline
from cadenza.domain.spending import Account


class PurseMembers(NamedTuple):
    """Endpoints of a job that are neither archived nor paused, with one baseline and account."""

    job_id: UUID
    baseline: Baseline
    account: Account | None  # None: they have spent nothing yet
    endpoints: int  # how many there are of them


class PurseReads(Protocol):
    async def purse_members(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Sequence[PurseMembers]: ...
