"""What a transaction deletes for good."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.memory.writes import Writes
from cadenza.domain.run import Run, RunStatus


class MemoryRemovalRows(Writes):
    async def endpoint_ids_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[UUID]:
        self._tables.job(tenant_id, job_id)
        return list(self._tables.ids_of_job[job_id])

    async def count_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        runs = sum(len(self._tables.runs_of[endpoint_id]) for endpoint_id in endpoint_ids)
        return min(runs + len(self._sessions(endpoint_ids)), most)

    async def delete_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        ended = [run for run in self._runs(endpoint_ids) if run.status is not RunStatus.RUNNING]
        for run in ended[:most]:
            self._delete_run(run)
        sessions = self._sessions(endpoint_ids)[: most - len(ended[:most])]
        for session_id in sessions:
            self._delete(self._tables.sessions, session_id)
        return len(ended[:most]) + len(sessions)

    async def delete_endpoints(self, endpoint_ids: Sequence[UUID]) -> None:
        tables, gone = self._tables, frozenset(endpoint_ids)
        self._delete_where(tables.analyses, lambda key, _: key[0] in gone)
        self._delete_where(tables.known_health, lambda key, _: key in gone)
        self._delete_where(tables.runs_of, lambda key, _: key in gone)
        self._delete_where(tables.asked_runs, lambda key, _: key[0] in gone)
        self._delete_where(tables.endpoint_names, lambda _, named: named in gone)
        for endpoint_id in gone & tables.endpoints.keys():
            endpoint = tables.endpoints[endpoint_id].endpoint
            self._delete(tables.ids_of_job[endpoint.job_id], endpoint_id)
            self._delete(tables.endpoints, endpoint_id)

    async def delete_job(self, job_id: UUID) -> None:
        tables = self._tables
        await self.delete_endpoints(list(tables.ids_of_job[job_id]))
        self._delete_where(tables.allowances, lambda key, _: key[2] == job_id)
        self._delete_where(tables.job_names, lambda _, named: named == job_id)
        self._delete_where(tables.ids_of_job, lambda key, _: key == job_id)
        self._delete(tables.jobs, job_id)
        gone = {route.id for route in tables.routes.values() if route.job_id == job_id}
        self._delete_where(tables.announcements, lambda key, _: key[0] in gone)
        self._delete_where(tables.routes, lambda key, _: key in gone)
        webhooks = {one.id for one in tables.subscriptions.values() if one.job_id == job_id}
        self._delete_where(
            tables.deliveries, lambda _, row: row.delivery.subscription_id in webhooks
        )
        self._delete_where(tables.subscriptions, lambda key, _: key in webhooks)
        for user in [user for user in tables.users.values() if job_id in user.job_roles]:
            left = {own: role for own, role in user.job_roles.items() if own != job_id}
            self._put(tables.users, user.id, replace(user, job_roles=left))

    def _runs(self, endpoint_ids: Sequence[UUID]) -> list[Run]:
        tables = self._tables
        return [
            tables.runs[run_id]
            for endpoint_id in endpoint_ids
            for run_id in tables.runs_of[endpoint_id].values()
        ]

    def _delete_run(self, run: Run) -> None:
        tables = self._tables
        self._delete(tables.runs_of[run.endpoint_id], run.slot_at)
        self._delete(tables.runs, run.id)
        self._delete_where(tables.lost_attempts, lambda run_id, _: run_id == run.id)
        self._delete_where(tables.late_results, lambda run_id, _: run_id == run.id)

    def _sessions(self, endpoint_ids: Sequence[UUID]) -> list[UUID]:
        sessions = self._tables.sessions.values()
        return [session.id for session in sessions if session.endpoint_id in endpoint_ids]
