"""The store: a transaction over the tables in memory."""

from contextlib import AbstractAsyncContextManager

from cadenza.adapters.memory.accounts import MemoryAccountRows
from cadenza.adapters.memory.awaited_results import MemoryResultRows
from cadenza.adapters.memory.billing_rows import MemoryBillingRows
from cadenza.adapters.memory.catalogue_rows import MemoryCatalogueRows
from cadenza.adapters.memory.clock_rows import MemoryClockRows
from cadenza.adapters.memory.deliveries import MemoryDeliveryRows
from cadenza.adapters.memory.grants import MemoryGrantRows
from cadenza.adapters.memory.incidents import MemoryIncidentRows, MemoryNotificationRows
from cadenza.adapters.memory.people import MemoryPeopleRows
from cadenza.adapters.memory.planner_rows import MemoryPlannerRows
from cadenza.adapters.memory.planner_stops import MemoryPlannerStopRows
from cadenza.adapters.memory.records import MemoryRecordRows
from cadenza.adapters.memory.removal_rows import MemoryRemovalRows
from cadenza.adapters.memory.run_authors import MemoryRunAuthorRows
from cadenza.adapters.memory.run_rows import MemoryRunRows
from cadenza.adapters.memory.sign_ins import MemorySignInRows
from cadenza.adapters.memory.slot_rows import MemorySlotRows
from cadenza.adapters.memory.steering_history import MemorySteeringRows
from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.store import Transaction


class MemoryTransaction(
    MemoryRecordRows,
    MemoryCatalogueRows,
    MemoryRemovalRows,
    MemoryRunRows,
    MemoryClockRows,
    MemoryPlannerRows,
    MemoryAccountRows,
    MemorySlotRows,
    MemoryBillingRows,
    MemoryGrantRows,
    MemorySignInRows,
    MemoryPeopleRows,
    MemorySteeringRows,
    MemoryPlannerStopRows,
    MemoryIncidentRows,
    MemoryNotificationRows,
    MemoryDeliveryRows,
    MemoryRunAuthorRows,
    MemoryResultRows,
):
    """Every verb of the port, by subject."""


class MemoryStore(OverTables):
    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return MemoryTransaction(self._tables)
