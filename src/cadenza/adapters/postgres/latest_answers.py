"""What endpoints answered last."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.storable import from_json
from cadenza.domain.analysis import LONGEST_RECENT_BODY
from cadenza.domain.run import Body


class PostgresLatestAnswers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest_answers(
        self, tenant_id: UUID, jobs: Sequence[str]
    ) -> Mapping[str, Mapping[str, Body]]:
        rows = await self._database.fetch(
            query("latest_answers"), tenant_id, list(jobs), LONGEST_RECENT_BODY
        )
        found: defaultdict[str, dict[str, Body]] = defaultdict(dict)
        for row in rows:
            found[row["job"]][row["endpoint"]] = from_json(row["body"])
        return found
