"""What a worker works off, in PostgreSQL."""

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.postgres.claims import PostgresClaims
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.ids import new_id
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.ports.secret_box import SecretBox


def claimed_runs(database: Database, box: SecretBox, clock: DatabaseClock) -> ClaimedRuns:
    claims = PostgresClaims(database, new_id, box, asking=clock.asking)
    return ClaimedRuns(claims, PostgresStore(database, box), CronsimCron())
