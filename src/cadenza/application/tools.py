"""The eight tools of a session: thin, bounded, and the only way a brain can touch a schedule.

Whatever is called, with whatever arguments, the answer is a value: `ok` with what took effect, or
not `ok` with the reason. Acts concern the analysed endpoint, or a sibling named in the call; ids
are resolved here, inside the tenant and the job, and never come from the brain.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.arguments import Arguments
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.brain import Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.endpoints import Act, EndpointStore
from cadenza.application.shown_state import shown_history, shown_response, shown_sibling
from cadenza.application.shown_text import plain, shortened
from cadenza.domain import steering
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.bounds import (
    MAX_INTERVAL,
    MAX_NEXT_ANALYSIS,
    MAX_PAUSE,
    MAX_TOOL_CALLS,
    MIN_INTERVAL,
    MIN_NEXT_ANALYSIS,
    MIN_TTL,
    bounded,
    longest_ttl,
)
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InvalidInput, NotFound, Refused
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.instants import iso_or_none
from cadenza.domain.rule import Mode
from cadenza.domain.session import ToolCall
from cadenza.domain.suggestion import is_waiting

Answer = dict[str, Any]
MAX_RECORDED = 2 * MAX_TOOL_CALLS  # what a brain goes on calling after it was told to stop
MAX_READ = 10_000  # characters of an argument
SUGGESTION_TTL = timedelta(hours=1)  # of one that has no end of its own


@dataclass(frozen=True, slots=True)
class Submission:
    reasoning: str
    confidence: float | None
    next_analysis_at: datetime | None


class Toolbox:
    """The tools of one session, and the record of what was called."""

    def __init__(
        self,
        context: AnalysisContext,
        endpoints: EndpointStore,
        analysis_queue: AnalysisQueue,
        clock: Clock,
        max_pause: timedelta = MAX_PAUSE,
        session_id: UUID | None = None,
    ) -> None:
        self._analysed = context.endpoint
        self._advises = context.mode is not Mode.ACT
        self._waiting = context.waiting
        self._session_id = session_id
        self._started_at = context.now
        self._endpoints = endpoints
        self._analysis_queue = analysis_queue
        self._clock = clock
        self._max_pause = max_pause
        self._took_effect = False
        self._holds_until: datetime | None = None
        self._one_at_a_time = asyncio.Lock()  # a model may ask for several tools in one breath
        self.calls: list[ToolCall] = []
        self.out_of_calls = False
        self.submission: Submission | None = None
        self.usage = Usage()
        self._tools: dict[str, Callable[[Arguments], Awaitable[Answer]]] = {
            "get_latest_response": self._get_latest_response,
            "get_response_history": self._get_response_history,
            "get_sibling_latest_responses": self._get_sibling_latest_responses,
            "propose_interval": self._propose_interval,
            "propose_next_time": self._propose_next_time,
            "pause_until": self._pause_until,
            "clear_hints": self._clear_hints,
            "submit_analysis": self._submit_analysis,
        }

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Run one tool, within the limits of a session, and keep what happened."""
        name, given = str(plain(tool))[:100], plain(arguments, MAX_READ)
        async with self._one_at_a_time:
            self._took_effect = False
            try:
                answer = await self._answer(name, given)
            except (InvalidInput, Refused, NotFound) as error:
                answer = {"ok": False, "error": str(error)}
            if len(self.calls) < MAX_RECORDED:
                self.calls.append(self._recorded(name, given, answer))
        return answer

    def _recorded(self, name: str, given: Any, answer: Answer) -> ToolCall:
        call = ToolCall(name, shortened(given), answer)
        if not self._took_effect:
            return call
        if not self._advises:
            return replace(call, took_effect=True, holds_until=self._holds_until)
        if is_waiting(name, call.arguments, self._waiting):
            return replace(call, repeated=True)
        return replace(call, suggested=True, holds_until=self._holds_until)

    def report_usage(self, usage: Usage) -> None:
        self.usage = usage

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> Answer:
        run = self._tools.get(tool)
        if run is None:
            raise InvalidInput("tool", tool, f"expected one of {', '.join(self._tools)}")
        if self.submission is not None:
            raise Refused("the analysis has been submitted; the session is over")
        if len(self.calls) >= MAX_TOOL_CALLS and tool != "submit_analysis":
            self.out_of_calls = True
            raise Refused(f"a session has {MAX_TOOL_CALLS} tool calls; submit the analysis now")
        return await run(Arguments(arguments))

    # --- Read -----------------------------------------------------------------------------

    async def _get_latest_response(self, arguments: Arguments) -> Answer:
        arguments.done()
        found = await self._analysis_queue.responses(self._analysed.id, limit=1)
        if not found:
            return {"ok": True, "found": False, "note": "it has not run yet"}
        return {"ok": True, "found": True, **shown_response(found[0])}

    async def _get_response_history(self, arguments: Arguments) -> Answer:
        limit = arguments.whole("limit", 1, 10, default=10)
        offset = arguments.whole("offset", 0, 100_000, default=0)
        arguments.done()
        found = await self._analysis_queue.responses(
            self._analysed.id, limit=limit + 1, offset=offset
        )
        shown = shown_history(found[:limit])
        return {"ok": True, "responses": shown, "more": len(found) > limit}

    async def _get_sibling_latest_responses(self, arguments: Arguments) -> Answer:
        arguments.done()
        siblings = await self._analysis_queue.siblings(self._analysed.id)
        now = self._clock.now()
        return {"ok": True, "siblings": [shown_sibling(each, now) for each in siblings]}

    # --- Act ------------------------------------------------------------------------------

    async def _propose_interval(self, arguments: Arguments) -> Answer:
        wanted = arguments.duration_ms("interval_ms")
        wanted_ttl = arguments.minutes("ttl_minutes", default=60)
        reason, name = arguments.text("reason"), arguments.text("endpoint")
        arguments.done()
        interval = bounded("interval", wanted, MIN_INTERVAL, MAX_INTERVAL)
        clamps = [interval.clamped]

        def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
            ttl = bounded("ttl", wanted_ttl, MIN_TTL, longest_ttl(endpoint, now, cron))
            clamps.append(ttl.clamped)
            self._holds_until = expires_at = now + ttl.value
            hint = IntervalHint(
                interval.value, expires_at, Author.PLANNER, reason, self._session_id
            )
            return steering.suggest_interval(endpoint, hint, now, cron)

        changed = await self._act(name, act)
        hint = changed.interval_hint
        return {
            **self._effect(changed, clamps),
            "expires_at": iso_or_none(hint and hint.expires_at),
        }

    async def _propose_next_time(self, arguments: Arguments) -> Answer:
        if arguments.has("next_run_at_iso") == arguments.has("next_run_in_ms"):
            raise InvalidInput("arguments", "", "give next_run_at_iso or next_run_in_ms")
        if arguments.has("next_run_at_iso"):
            run_at = arguments.instant("next_run_at_iso")
            arguments.anything("next_run_in_ms")
        else:
            run_at = self._clock.now() + arguments.duration_ms("next_run_in_ms")
            arguments.anything("next_run_at_iso")
        wanted_ttl = arguments.minutes("ttl_minutes", default=30)
        reason, name = arguments.text("reason"), arguments.text("endpoint")
        arguments.done()
        clamps: list[str | None] = []

        def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
            if run_at <= now:
                self._refuse_if_it_ran_meanwhile(endpoint)
            ttl = bounded("ttl", wanted_ttl, MIN_TTL, longest_ttl(endpoint, now, cron))
            clamps.append(ttl.clamped)
            self._holds_until = expires_at = now + ttl.value
            hint = OneShotHint(run_at, expires_at, Author.PLANNER, reason, self._session_id)
            return steering.suggest_run_at(endpoint, hint, now, cron)

        changed = await self._act(name, act)
        hint = changed.one_shot_hint
        return {
            **self._effect(changed, clamps),
            "expires_at": iso_or_none(hint and hint.expires_at),
        }

    async def _pause_until(self, arguments: Arguments) -> Answer:
        until_at = None
        if arguments.has("until_iso"):
            until_at = arguments.instant("until_iso")
        arguments.anything("until_iso")
        reason, name = arguments.text("reason"), arguments.text("endpoint")
        arguments.done()
        clamps: list[str | None] = []

        def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
            if until_at is None:
                return steering.resume(endpoint, Author.PLANNER, now, cron)
            length = bounded("pause", until_at - now, timedelta.min, self._max_pause)
            clamps.append(length.clamped)
            self._holds_until = end = now + length.value if length.clamped else until_at
            return steering.pause(
                endpoint, end, Author.PLANNER, reason, now, cron, self._session_id
            )

        return self._effect(await self._act(name, act), clamps)

    async def _clear_hints(self, arguments: Arguments) -> Answer:
        arguments.text("reason")
        name = arguments.text("endpoint")
        arguments.done()

        def act(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
            return steering.clear_hints(endpoint, Author.PLANNER, now, cron)

        return self._effect(await self._act(name, act), [])

    async def _act(self, name: str, act: Act) -> Endpoint:
        """Apply an act as the planner, counted, in one transaction of the store.

        A planner that may only advise is told what would have taken effect; nothing is written.
        """
        endpoint_id = await self._resolve(name)
        outcome: list[Endpoint] = []

        def counted(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
            if endpoint.archived_at is not None:
                raise Refused("it is archived")
            self._holds_until = now + SUGGESTION_TTL
            changed = steering.counted_for_planner(endpoint, act(endpoint, now, cron), now)
            self._took_effect = changed != endpoint
            outcome.append(changed)
            return endpoint if self._advises else changed

        await self._endpoints.change_endpoint(self._analysed.tenant_id, endpoint_id, counted)
        return outcome[-1]

    def _effect(self, endpoint: Endpoint, clamps: Sequence[str | None]) -> Answer:
        effect = _effect(endpoint, clamps)
        return {**effect, "suggested_only": True} if self._advises else effect

    async def _resolve(self, name: str) -> Any:
        if name in ("", self._analysed.name):
            return self._analysed.id
        siblings = await self._analysis_queue.siblings(self._analysed.id)
        for sibling in siblings:
            if sibling.endpoint.name == name:
                return sibling.endpoint.id
        names = ", ".join(sorted(each.endpoint.name for each in siblings)) or "no other endpoint"
        raise InvalidInput("endpoint", name, f"this job has {names}")

    def _refuse_if_it_ran_meanwhile(self, endpoint: Endpoint) -> None:
        for slot_at in (endpoint.running_slot_at, endpoint.last_slot_at):
            if slot_at is not None and slot_at > self._started_at:
                raise Refused("it has run since this analysis began")

    # --- Finish ---------------------------------------------------------------------------

    async def _submit_analysis(self, arguments: Arguments) -> Answer:
        reasoning = arguments.text("reasoning", longest=4000)
        confidence = arguments.share("confidence")
        arguments.anything("actions_taken")
        next_analysis_at, clamps = None, list[str]()
        if arguments.has("next_analysis_in_ms"):
            wanted = arguments.duration_ms("next_analysis_in_ms")
            length = bounded("next analysis", wanted, MIN_NEXT_ANALYSIS, MAX_NEXT_ANALYSIS)
            next_analysis_at = self._clock.now() + length.value
            clamps = [length.clamped] if length.clamped else []
        arguments.anything("next_analysis_in_ms")
        arguments.done()
        self.submission = Submission(reasoning, confidence, next_analysis_at)
        return {"ok": True, "next_analysis_at": iso_or_none(next_analysis_at), "clamped": clamps}


def _effect(endpoint: Endpoint, clamps: Sequence[str | None]) -> Answer:
    clamped = [each for each in clamps if each]
    if endpoint.plan is not None:
        clamped.extend(endpoint.plan.clamps)
    return {
        "ok": True,
        "endpoint": endpoint.name,
        "next_run_at": iso_or_none(endpoint.next_run_at),
        "source": endpoint.next_source,
        "in_flight": endpoint.in_flight,
        "clamped": clamped,
    }
