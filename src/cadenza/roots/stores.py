"""What programs store and read, behind the ports that they use: in PostgreSQL."""

from collections.abc import Sequence

from cadenza.adapters.postgres.accounts import PostgresAccounts, PostgresSigningKeys
from cadenza.adapters.postgres.activity import PostgresActivityReads
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.grants import PostgresGrants
from cadenza.adapters.postgres.ids import PostgresIds
from cadenza.adapters.postgres.notification_reads import PostgresNotificationReads
from cadenza.adapters.postgres.people import PostgresPeople
from cadenza.adapters.postgres.planner_rows import PostgresSuggestions
from cadenza.adapters.postgres.planner_stops import PostgresPlannerStops
from cadenza.adapters.postgres.purses import PostgresPurses
from cadenza.adapters.postgres.records import PostgresEventLog, PostgresRecords
from cadenza.adapters.postgres.run_authors import PostgresRunAuthors
from cadenza.adapters.postgres.run_reads import PostgresLatestAnswers, PostgresRunReads
from cadenza.adapters.postgres.schedules import PostgresScheduleReads
from cadenza.adapters.postgres.score import PostgresScoreReads
from cadenza.adapters.postgres.sign_ins import PostgresSignIns
from cadenza.adapters.postgres.steering_history import PostgresSteeringReads
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.postgres.usage import PostgresReadiness, PostgresUsage
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.application.ports.secret_box import SecretBox
from cadenza.web.api.dependencies import Stores


def api_stores(
    database: Database, box: SecretBox, clock: DatabaseClock, expected_workers: Sequence[str] = ()
) -> Stores:
    accounts = PostgresAccounts(database, asking=clock.asking)
    catalogue = PostgresCatalogue(database, box)
    return Stores(
        store=PostgresStore(database, box),
        jobs=catalogue,
        endpoints=catalogue,
        runs=PostgresRunReads(database),
        records=PostgresRecords(database),
        usage=PostgresUsage(database),
        readiness=PostgresReadiness(database, expected_workers),
        event_log=PostgresEventLog(database),
        latest_answers=PostgresLatestAnswers(database),
        keys=accounts,
        tenants=accounts,
        signing_keys=PostgresSigningKeys(database, box),
        suggestions=PostgresSuggestions(database),
        purses=PostgresPurses(database),
        run_authors=PostgresRunAuthors(database),
        planner_stops=PostgresPlannerStops(database),
        analysis_queue=PostgresAnalysisQueue(database),
        billing=PostgresBilling(database, box),
        grants=PostgresGrants(database),
        schedules=PostgresScheduleReads(database),
        graphs=PostgresWorkers(database),
        workers=PostgresWorkers(database),
        sign_ins=PostgresSignIns(database),
        people=PostgresPeople(database),
        ids=PostgresIds(database),
        steering=PostgresSteeringReads(database),
        scores=PostgresScoreReads(database),
        activity=PostgresActivityReads(database),
        notifications=PostgresNotificationReads(database),
    )
