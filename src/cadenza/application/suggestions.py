"""A person accepts what a planner suggested: the same tool, with the same bounds, as the planner.

It is marked before it is done, so that of two people who click at once one is told no; where the
tool refuses, the mark is taken back.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from cadenza.application.ports.clock import Clock
from cadenza.application.ports.endpoints import EndpointStore
from cadenza.application.ports.insights import Insights
from cadenza.application.ports.suggestions import SuggestionStore
from cadenza.application.tools import Toolbox
from cadenza.domain.audit import Deed
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.rule import Mode
from cadenza.domain.session import kind_of

DeedOf = Callable[..., Deed]


class AcceptSuggestion:
    def __init__(
        self, store: SuggestionStore, endpoints: EndpointStore, insights: Insights, clock: Clock
    ) -> None:
        self._store = store
        self._endpoints = endpoints
        self._insights = insights
        self._clock = clock

    async def accept(
        self, tenant_id: UUID, session_id: UUID, call: int, deed: DeedOf
    ) -> dict[str, Any]:
        """What took effect; Refused where it was accepted before, is past its time, or cannot be
        done any more. `deed` makes the entry of the audit log from an action and its data."""
        told: dict[str, Any] = {"session_id": str(session_id), "call": call}
        taken = await self._store.take(
            tenant_id, session_id, call, deed("suggestion.accept", **told)
        )
        try:
            tools = await self._tools(taken.endpoint_id, kind_of(taken.brain), session_id)
            answer = await tools.call(taken.tool, taken.arguments)
            if not answer["ok"]:
                raise Refused(str(answer["error"]))
        except Exception as error:
            undone = deed("suggestion.refused", **told, reason=str(error))
            await self._store.put_back(tenant_id, taken, undone)
            raise
        return answer

    async def _tools(self, endpoint_id: UUID, brain: str, session_id: UUID) -> Toolbox:
        found = await self._insights.material_for([endpoint_id], brain)
        if not found:
            raise NotFound(f"no endpoint {endpoint_id}")
        material = replace(found[0], mode=Mode.ACT)
        return Toolbox(
            material, self._endpoints, self._insights, self._clock, session_id=session_id
        )
