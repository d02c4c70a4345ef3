"""Everything that a brain is shown about an endpoint."""

from functools import cache
from typing import NamedTuple
from uuid import UUID

from cadenza.adapters.memory.health import health_now
from cadenza.adapters.memory.rows import AnalysisRow, EndpointRow
from cadenza.adapters.memory.suggestions import waiting_calls
from cadenza.adapters.memory.tables import Tables
from cadenza.domain.analysis import AnalysisContext, LastAnalysis, SiblingState, Waiting
from cadenza.domain.rule import Mode


class _Members(NamedTuple):
    """The endpoints of a job, by name."""

    names: tuple[str, ...]
    states: tuple[SiblingState, ...]
    mode: Mode

    def without(self, name: str) -> tuple[tuple[str, ...], tuple[SiblingState, ...]]:
        names, states = self.names, self.states
        if name not in names:  # it is archived
            return names, states
        at = names.index(name)
        return names[:at] + names[at + 1 :], states[:at] + states[at + 1 :]


class ContextReader:
    """For one brain. The endpoints of a job are read once for all that ask for their siblings."""

    def __init__(self, tables: Tables, brain: str) -> None:
        self._tables = tables
        self._brain = brain
        self._members_of = cache(self._read_members)

    def context_of(self, row: EndpointRow) -> AnalysisContext:
        tables, endpoint = self._tables, row.endpoint
        analysis = tables.analyses.get((endpoint.id, self._brain), AnalysisRow())
        members = self._members_of(endpoint.job_id)
        names, siblings = members.without(endpoint.name)
        at, mode = analysis.analysed_at, members.mode
        return AnalysisContext(
            now=tables.clock.now(),
            endpoint=endpoint,
            job=tables.jobs[endpoint.job_id].job,
            health=health_now(tables, row),
            sibling_names=names,
            last_analysis=LastAnalysis(at, analysis.reasoning) if at is not None else None,
            recent=row.recent,
            siblings=siblings,
            mode=mode,
            fired_at=analysis.fired,
            waiting=self._waiting(endpoint.id) if mode is Mode.ADVISE else (),
        )

    def _read_members(self, job_id: UUID) -> _Members:
        rows = self._tables.members_of(job_id)
        rows.sort(key=lambda row: row.endpoint.name)
        return _Members(
            tuple(row.endpoint.name for row in rows),
            tuple(
                SiblingState(row.endpoint, row.recent[0] if row.recent else None) for row in rows
            ),
            self._tables.mode_of(job_id, self._brain),
        )

    def _waiting(self, endpoint_id: UUID) -> tuple[Waiting, ...]:
        calls = waiting_calls(self._tables, endpoint_id, self._brain)
        return tuple(Waiting(call.tool, call.arguments) for call in calls)
