"""What programs store and read, behind the ports that they use: in PostgreSQL, or in memory."""

from collections.abc import Sequence

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.postgres.accounts import PostgresAccounts, PostgresSigningKeys
from cadenza.adapters.postgres.activity import PostgresActivityReads
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.grants import PostgresGrants
from cadenza.adapters.postgres.ids import PostgresIds
from cadenza.adapters.postgres.planner_rows import PostgresSuggestions
from cadenza.adapters.postgres.records import PostgresEventLog, PostgresRecords
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
    accounts = PostgresAccounts(database, on_time=clock.hear)
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
        analysis_queue=PostgresAnalysisQueue(database),
        billing=PostgresBilling(database, box),
        grants=PostgresGrants(database),
        schedules=PostgresScheduleReads(database),
        graphs=PostgresWorkers(database),
        workers=PostgresWorkers(database),
        sign_ins=PostgresSignIns(database),
        ids=PostgresIds(database),
        steering=PostgresSteeringReads(database),
        scores=PostgresScoreReads(database),
        activity=PostgresActivityReads(database),
    )


def memory_stores(memory: MemoryStores) -> Stores:
    return Stores(
        store=memory.store,
        jobs=memory.catalogue,
        endpoints=memory.catalogue,
        runs=memory.runs,
        records=memory.records,
        usage=memory.usage,
        readiness=memory.readiness,
        event_log=memory.event_log,
        latest_answers=memory.latest_answers,
        keys=memory.accounts,
        tenants=memory.accounts,
        signing_keys=memory.signing_keys,
        suggestions=memory.suggestions,
        analysis_queue=memory.analysis_queue,
        billing=memory.billing,
        grants=memory.grants,
        schedules=memory.schedules,
        graphs=memory.workers,
        workers=memory.workers,
        sign_ins=memory.sign_ins,
        ids=memory.ids,
        steering=memory.steering,
        scores=memory.scores,
        activity=memory.activity,
    )
