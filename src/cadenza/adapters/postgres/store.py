"""The store over PostgreSQL: one transaction, with the verbs of every subject."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from cadenza.adapters.postgres.accounts import PostgresAccountRows
from cadenza.adapters.postgres.awaited_results import PostgresResultRows
from cadenza.adapters.postgres.billing_rows import PostgresBillingRows
from cadenza.adapters.postgres.clock_rows import PostgresClockRows
from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.delivery_rows import PostgresDeliveryRows
from cadenza.adapters.postgres.endpoint_rows import PostgresEndpointRows
from cadenza.adapters.postgres.grant_rows import PostgresGrantRows
from cadenza.adapters.postgres.incident_rows import PostgresIncidentRows
from cadenza.adapters.postgres.job_rows import PostgresJobRows
from cadenza.adapters.postgres.notification_rows import PostgresNotificationRows
from cadenza.adapters.postgres.people import PostgresPeopleRows
from cadenza.adapters.postgres.planner_rows import PostgresPlannerRows
from cadenza.adapters.postgres.planner_stops import PostgresPlannerStopRows
from cadenza.adapters.postgres.record_rows import PostgresRecordRows
from cadenza.adapters.postgres.removal_rows import PostgresRemovalRows
from cadenza.adapters.postgres.run_authors import PostgresRunAuthorRows
from cadenza.adapters.postgres.run_rows import PostgresRunRows
from cadenza.adapters.postgres.schedule_rows import PostgresSlotRows
from cadenza.adapters.postgres.sign_ins import PostgresSignInRows
from cadenza.adapters.postgres.steering_history import PostgresSteeringRows
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.endpoint import MAX_SPREAD


class PostgresTransaction(
    PostgresRecordRows,
    PostgresJobRows,
    PostgresEndpointRows,
    PostgresRemovalRows,
    PostgresRunRows,
    PostgresClockRows,
    PostgresPlannerRows,
    PostgresAccountRows,
    PostgresSlotRows,
    PostgresBillingRows,
    PostgresGrantRows,
    PostgresSignInRows,
    PostgresPeopleRows,
    PostgresSteeringRows,
    PostgresPlannerStopRows,
    PostgresIncidentRows,
    PostgresNotificationRows,
    PostgresDeliveryRows,
    PostgresRunAuthorRows,
    PostgresResultRows,
):
    def __init__(self, connection: Connection, box: SecretBox, spread: timedelta) -> None:
        self.connection = connection
        self.box = box
        self.spread = spread


class PostgresStore:
    def __init__(self, database: Database, box: SecretBox, spread: timedelta = MAX_SPREAD) -> None:
        self._database = database
        self._box = box
        self._spread = spread

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[PostgresTransaction]:
        async with self._database.transaction() as connection:
            yield PostgresTransaction(connection, self._box, self._spread)
