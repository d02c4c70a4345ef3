"""A person accepts what a planner suggested: the same tool, with the same bounds, as the planner.

Mark and effect are one transaction: of two people who click at once one is told no, and where the
tool refuses, or the process dies, the suggestion is as open as before.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.endpoints import EndpointStore
from cadenza.application.ports.suggestions import SuggestionStore
from cadenza.application.tools import Toolbox
from cadenza.domain.audit import AuditEntry
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.rule import Mode
from cadenza.domain.session import kind_of
from cadenza.domain.suggestion import Suggestion

EntryOf = Callable[..., AuditEntry]


class AcceptSuggestion:
    def __init__(
        self,
        store: SuggestionStore,
        endpoints: EndpointStore,
        analysis_queue: AnalysisQueue,
        clock: Clock,
    ) -> None:
        self._store = store
        self._endpoints = endpoints
        self._analysis_queue = analysis_queue
        self._clock = clock

    async def accept(
        self, tenant_id: UUID, session_id: UUID, call: int, entry: EntryOf
    ) -> dict[str, Any]:
        """What took effect; Refused where it was accepted before, is past its time, or cannot be
        done any more. `entry` makes the entry of the audit log from an action and its data."""
        told: dict[str, Any] = {"session_id": str(session_id), "call": call}
        accepts = entry("suggestion.accept", **told)
        taken: Suggestion | None = None
        try:
            async with self._store.accepting(tenant_id, session_id, call, accepts) as taken:
                return await self._carry_out(taken)
        except Exception as error:
            if taken is not None:
                undone = entry("suggestion.refused", **told, reason=str(error))
                await self._store.note_refusal(tenant_id, session_id, undone)
            raise

    async def _carry_out(self, taken: Suggestion) -> dict[str, Any]:
        tools = await self._tools(taken.endpoint_id, kind_of(taken.brain), taken.session_id)
        answer = await tools.call(taken.tool, taken.arguments)
        if not answer["ok"]:
            raise Refused(str(answer["error"]))
        return answer

    async def _tools(self, endpoint_id: UUID, brain: str, session_id: UUID) -> Toolbox:
        found = await self._analysis_queue.contexts_for([endpoint_id], brain)
        if not found:
            raise NotFound(f"no endpoint {endpoint_id}")
        context = replace(found[0], mode=Mode.ACT)
        return Toolbox(
            context, self._endpoints, self._analysis_queue, self._clock, session_id=session_id
        )
