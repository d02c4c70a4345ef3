"""A person accepts what a planner suggested: the same tool, under the same bounds.

Mark and effect are one transaction: of two people who accept at once one is refused, and where the
tool refuses, or the process ends, the suggestion stays open.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.store import JoinedStore, Store, Transaction
from cadenza.application.ports.suggestions import SuggestionReads
from cadenza.application.recording import record
from cadenza.application.tools import Toolbox
from cadenza.domain.access import Caller
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.cron import Cron
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.rule import ALL_ACT
from cadenza.domain.session import kind_of
from cadenza.domain.suggestion import Suggestion

LEADS_TO_RUNS_FOR = timedelta(days=8)  # what is accepted late acts late


@dataclass(frozen=True, slots=True)
class Suggestions:
    store: Store
    suggestions: SuggestionReads
    analysis_queue: AnalysisQueue
    clock: Clock
    cron: Cron

    async def accept(
        self, caller: Caller, session_id: UUID, call: int | None
    ) -> tuple[int, dict[str, Any]]:
        """Returns the call, and what took effect. `call` may be None where there is only one
        suggestion. Refused where it was accepted before, has expired, or is no longer possible."""
        suggestion = await self.suggestions.get_suggestion(caller.tenant_id, session_id, call)
        suggestion.check_open(self.clock.now())
        brain, endpoint_id = kind_of(suggestion.brain), suggestion.endpoint_id
        contexts = await self.analysis_queue.contexts_for([endpoint_id], brain)
        if not contexts:
            raise NotFound(f"no endpoint {endpoint_id}")
        context = replace(contexts[0], modes=ALL_ACT)
        locked: Suggestion | None = None
        try:
            async with self.store.transaction() as tx:
                locked = await self._mark_accepted(tx, caller, suggestion)
                return suggestion.call, await self._carry_out(tx, locked, context)
        except Exception as error:
            if locked is not None:  # else somebody else was quicker, and nothing was tried
                await self._note_refusal(caller, suggestion, error)
            raise

    async def dismiss(self, caller: Caller, session_id: UUID, call: int | None) -> int:
        """Returns the call. It is hidden, and nothing similar is suggested while it would have been
        open. Refused where it could not be accepted any more."""
        suggestion = await self.suggestions.get_suggestion(caller.tenant_id, session_id, call)
        async with self.store.transaction() as tx:
            locked = await tx.lock_suggestion(caller.tenant_id, session_id, suggestion.call)
            locked.check_open(await tx.time())
            await tx.mark_dismissed(locked, caller.actor.public_name)
            await self._record(tx, caller, "suggestion.dismiss", locked)
        return suggestion.call

    async def restore(self, caller: Caller, session_id: UUID, call: int | None) -> int:
        """Undo a dismissal."""
        suggestion = await self.suggestions.get_suggestion(caller.tenant_id, session_id, call)
        async with self.store.transaction() as tx:
            locked = await tx.lock_suggestion(caller.tenant_id, session_id, suggestion.call)
            if locked.dismissed_by is None:
                raise Refused("nobody has dismissed it")
            await tx.mark_dismissed(locked, None)
            await self._record(tx, caller, "suggestion.restore", locked)
        return suggestion.call

    async def _record(
        self,
        tx: Transaction,
        caller: Caller,
        action: str,
        suggestion: Suggestion,
        **more: str,
    ) -> None:
        """Recorded for the endpoint, so that its job's timeline shows it."""
        data = {"session_id": str(suggestion.session_id), "call": suggestion.call, **more}
        ids = (caller.tenant_id, action, suggestion.endpoint_id)
        await record(tx, caller.actor, *ids, data)

    async def _mark_accepted(
        self, tx: Transaction, caller: Caller, suggestion: Suggestion
    ) -> Suggestion:
        tenant_id, session_id = caller.tenant_id, suggestion.session_id
        locked = await tx.lock_suggestion(tenant_id, session_id, suggestion.call)
        now = await tx.time()
        locked.check_open(now)
        await tx.mark_accepted(locked, caller.actor.name, now + LEADS_TO_RUNS_FOR)
        await self._record(tx, caller, "suggestion.accept", suggestion)
        return locked

    async def _carry_out(
        self, tx: Transaction, suggestion: Suggestion, context: AnalysisContext
    ) -> dict[str, Any]:
        tools = Toolbox(
            context,
            JoinedStore(tx),
            self.analysis_queue,
            self.clock,
            self.cron,
            session_id=suggestion.session_id,
            brain=kind_of(suggestion.brain),
        )
        answer = await tools.call(suggestion.tool, suggestion.arguments, suggestion.rule_id)
        if not answer["ok"]:
            raise Refused(str(answer["error"]))
        return answer

    async def _note_refusal(self, caller: Caller, suggestion: Suggestion, error: Exception) -> None:
        """Record that an accepted suggestion could not be carried out."""
        async with self.store.transaction() as tx:
            await self._record(tx, caller, "suggestion.refused", suggestion, reason=str(error))
