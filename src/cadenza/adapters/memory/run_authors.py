"""Who asked for runs that the baseline did not choose, in memory."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.run_authors import BY_HAND, RunAuthor, Slot
from cadenza.application.score_steering import steered_by
from cadenza.domain.score import SteeredBy
from cadenza.domain.steering_history import SteeringEntry


class MemoryRunAuthorRows(Writes):
    async def note_asked_run(self, endpoint_id: UUID, slot_at: datetime, user_id: UUID) -> None:
        asked = self._tables.asked_runs
        if (endpoint_id, slot_at) not in asked:
            self._put(asked, (endpoint_id, slot_at), user_id)


class MemoryRunAuthors(OverTables):
    async def authors_of(
        self, wanted: Sequence[tuple[UUID, datetime, str]]
    ) -> Mapping[Slot, RunAuthor]:
        authors: dict[Slot, RunAuthor] = {}
        for endpoint_id, slot_at, kind in wanted:
            slot = (endpoint_id, slot_at)
            author = self._asked(slot) if kind == BY_HAND else self._hinted(slot, kind)
            if author is not None:
                authors[slot] = author
        return authors

    async def asked_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Mapping[Slot, RunAuthor]:
        slots = [
            slot
            for slot in self._tables.asked_runs
            if slot[0] in endpoint_ids and from_at <= slot[1] < to_at
        ]
        slots.sort(key=lambda slot: slot[1], reverse=True)
        return {slot: author for slot in slots[:most] if (author := self._asked(slot))}

    def _asked(self, slot: Slot) -> RunAuthor | None:
        user_id = self._tables.asked_runs.get(slot)
        if user_id is None:
            return None
        return RunAuthor(SteeredBy.PERSON, self._name(user_id), user_id)

    def _hinted(self, slot: Slot, kind: str) -> RunAuthor | None:
        endpoint_id, slot_at = slot
        in_force = [
            entry
            for entry in self._tables.steering.get(endpoint_id, {}).values()
            if entry.kind == kind and entry.begun_at <= slot_at <= entry.until_at
        ]
        return self._author(min(in_force, key=lambda entry: entry.until_at)) if in_force else None

    def _author(self, entry: SteeringEntry) -> RunAuthor:
        advice = entry.advice
        by = steered_by(advice.author, advice.brain, advice.rule_id)
        job = self._tables.jobs[self._tables.endpoints[entry.endpoint_id].endpoint.job_id].job
        rules = {rule.id: rule.name for rule in job.rules}
        is_person = by is SteeredBy.PERSON
        name = self._name(advice.user_id) if is_person else rules.get(advice.rule_id)
        return RunAuthor(
            by, name, advice.user_id, advice.session_id, advice.reason, advice.tightens
        )

    def _name(self, user_id: UUID | None) -> str | None:
        user = self._tables.users.get(user_id) if user_id is not None else None
        return user.name if user is not None else None
