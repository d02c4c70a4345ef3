from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from cadenza.domain.run import LateResult, LostAttempt, Run


class RunHistory(Protocol):
    async def list_runs(
        self, tenant_id: UUID, endpoint_id: UUID, *, limit: int = 50, offset: int = 0
    ) -> Sequence[Run]:
        """Newest slot first."""
        ...

    async def list_lost_attempts(self, tenant_id: UUID, run_id: UUID) -> Sequence[LostAttempt]: ...

    async def list_late_results(
        self, tenant_id: UUID, endpoint_id: UUID
    ) -> Sequence[LateResult]: ...
