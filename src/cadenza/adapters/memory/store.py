"""The store: a transaction over the tables in memory."""

from contextlib import AbstractAsyncContextManager

from cadenza.adapters.memory.account_rows import (
    MemorySigningKeyRows,
    MemoryTenantRows,
    MemoryUserRows,
)
from cadenza.adapters.memory.billing_rows import MemoryBillingRows
from cadenza.adapters.memory.endpoint_rows import MemoryEndpointRows
from cadenza.adapters.memory.grants import MemoryGrantRows
from cadenza.adapters.memory.job_rows import MemoryJobRows
from cadenza.adapters.memory.planner_rows import (
    MemoryAnalysisRows,
    MemoryQuotaRows,
    MemorySuggestionRows,
)
from cadenza.adapters.memory.record_rows import MemoryRecordRows
from cadenza.adapters.memory.run_rows import MemoryRunRows
from cadenza.adapters.memory.schedule_rows import MemorySlotRows
from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.store import Transaction


class MemoryTransaction(
    MemoryRecordRows,
    MemoryJobRows,
    MemoryEndpointRows,
    MemoryRunRows,
    MemoryAnalysisRows,
    MemorySuggestionRows,
    MemoryQuotaRows,
    MemoryTenantRows,
    MemoryUserRows,
    MemorySigningKeyRows,
    MemorySlotRows,
    MemoryBillingRows,
    MemoryGrantRows,
):
    """Every verb of the port, by subject."""


class MemoryStore:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return MemoryTransaction(self._tables)
