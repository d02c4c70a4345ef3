"""A planner that shares its process with a worker: while that is busy, it looks less often."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.database import Database
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.application.ports.clock import Clock
from cadenza.domain.analysis import AnalysisReason

AT_MOST = timedelta(seconds=3)  # so that rules are judged in time, however much there is to do
STEP = timedelta(milliseconds=100)


class GivingWay(PostgresAnalysisQueue):
    def __init__(self, database: Database, clock: Clock, is_busy: Callable[[], bool]) -> None:
        super().__init__(database)
        self._clock = clock
        self._is_busy = is_busy

    async def claim_for_analysis(self, request: AnalysisRequest) -> Mapping[UUID, AnalysisReason]:
        waited = timedelta(0)
        while self._is_busy() and waited < AT_MOST:
            await self._clock.sleep(STEP)
            waited += STEP
        return await super().claim_for_analysis(request)
