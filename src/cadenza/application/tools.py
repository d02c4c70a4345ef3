"""The eight tools of a session: thin, bounded, and the only way a brain can touch a schedule.

Whatever is called, with whatever arguments, the answer is a value: `ok` with what took effect, or
not `ok` with the reason. Changes concern the analysed endpoint, or a sibling named in the call; ids
are resolved here, inside the tenant and the job, and never come from the brain.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.arguments import Arguments
from cadenza.application.descriptions import Answer
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.brain import Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.reading_tools import ReadingTools
from cadenza.application.sanitizing import sanitized, shortened
from cadenza.application.transitions import save_transitions
from cadenza.domain import bounds, steering
from cadenza.domain.analysis import AnalysisContext, Waiting
from cadenza.domain.authority import Authority, authority_of, describe, mode_of
from cadenza.domain.bounds import MAX_TOOL_CALLS, Bounded, bounded
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, fresh_hints
from cadenza.domain.errors import InvalidInput, LeftAlone, NotFound, Refused
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.instants import iso_or_none
from cadenza.domain.rule import Mode
from cadenza.domain.session import ToolCall
from cadenza.domain.steering_history import By
from cadenza.domain.suggestion import is_waiting
from cadenza.domain.track_record import TrackRecord
from cadenza.domain.value import replace

MAX_RECORDED = 2 * MAX_TOOL_CALLS  # some brains go on calling after they had to stop
MAX_READ = 10_000  # characters of an argument
MAX_NAMES = 50  # of siblings, in an answer to a name that none of them has
SUGGESTION_TTL = timedelta(hours=1)  # of one that has no end of its own


@dataclass(frozen=True, slots=True)
class Submission:
    reasoning: str
    confidence: float | None
    next_analysis_at: datetime | None


@dataclass(frozen=True, slots=True)
class Effect:
    """An endpoint after a transition: what of it was cut to the bounds, and how long it holds."""

    endpoint: Endpoint
    holds_until: datetime | None = None
    clamps: tuple[str, ...] = ()


Change = Callable[[Endpoint, datetime], Effect]


@dataclass(eq=False)
class Toolbox:
    """The tools of one session, and the record of what was called."""

    context: AnalysisContext
    store: Store
    analysis_queue: AnalysisQueue
    clock: Clock
    cron: Cron
    session_id: UUID | None = None
    brain: str | None = None

    def __post_init__(self) -> None:
        self._analysed = self.context.endpoint
        self._reading = ReadingTools(self.context, self.store, self.analysis_queue, self.clock)
        self._one_at_a_time = asyncio.Lock()  # brains may call several tools at once
        self.calls: list[ToolCall] = []
        self.submission: Submission | None = None
        self.usage = Usage()
        self.out_of_calls = False
        self._rule_id: UUID | None = None  # of the call under way
        self._refusal: str | None = None  # its kind, where it was refused
        self._effect: Effect | None = None  # where it changed something, or would have
        self._tools: dict[str, Callable[[Arguments], Awaitable[Answer]]] = {
            "get_latest_response": self._reading.latest_response,
            "get_response_history": self._reading.response_history,
            "get_sibling_latest_responses": self._reading.sibling_latest_responses,
            "propose_interval": self._propose_interval,
            "propose_next_time": self._propose_next_time,
            "pause_until": self._pause_until,
            "clear_hints": self._clear_hints,
            "submit_analysis": self._submit_analysis,
        }

    async def call(
        self, tool: str, arguments: dict[str, Any], rule_id: UUID | None = None
    ) -> Answer:
        """Run one tool, within the limits of a session, and keep what happened."""
        name, cleaned = str(sanitized(tool))[:100], sanitized(arguments, MAX_READ)
        async with self._one_at_a_time:
            self._effect, self._rule_id, self._refusal = None, rule_id, None
            try:
                answer = await self._answer(name, cleaned)
            except (InvalidInput, Refused, NotFound) as error:
                answer = {"ok": False, "error": str(error)}
                self._refusal = error.kind if isinstance(error, Refused) else "invalid"
            if len(self.calls) < MAX_RECORDED:
                self.calls.append(self._recorded(name, cleaned, answer))
        return answer

    def _recorded(self, name: str, arguments: Any, answer: Answer) -> ToolCall:
        call = ToolCall(
            name, shortened(arguments), answer, rule_id=self._rule_id, refusal=self._refusal
        )
        if self._effect is None:
            return call
        if not self._advises:
            return replace(call, took_effect=True, holds_until=self._effect.holds_until)
        suggested = [Waiting(each.tool, each.arguments) for each in self.calls if each.suggested]
        if is_waiting(name, call.arguments, (*self.context.waiting, *suggested)):
            return replace(call, repeated=True)
        return replace(call, suggested=True, holds_until=self._effect.holds_until)

    @property
    def _authority(self) -> Authority:
        """Of the call under way."""
        return authority_of(Author.PLANNER, self.brain, self._rule_id)

    @property
    def _advises(self) -> bool:
        return mode_of(self._authority, self.context.modes) is not Mode.ACT

    def report_usage(self, usage: Usage) -> None:
        self.usage = usage

    async def track_record(self) -> TrackRecord:
        return await self._reading.track_record()

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> Answer:
        run = self._tools.get(tool)
        if run is None:
            raise InvalidInput("tool", tool, f"expected one of {', '.join(self._tools)}")
        if self.submission is not None:
            raise Refused("the analysis has been submitted; the session is over")
        if len(self.calls) >= MAX_TOOL_CALLS and tool != "submit_analysis":
            self.out_of_calls = True
            raise Refused(f"a session has {MAX_TOOL_CALLS} tool calls; submit the analysis now")
        read = Arguments(arguments)
        answer = await run(read)
        return {**answer, "ignored_arguments": read.ignored} if read.ignored else answer

    # --- Change ---------------------------------------------------------------------------

    async def _propose_interval(self, arguments: Arguments) -> Answer:
        wanted = arguments.duration_ms("interval_ms")
        wanted_ttl = arguments.minutes("ttl_minutes", default=60)
        reason, name = arguments.text("reason"), arguments.text("endpoint")
        interval = bounded("interval", wanted, bounds.MIN_INTERVAL, bounds.MAX_INTERVAL)

        def change(endpoint: Endpoint, now: datetime) -> Effect:
            ttl = self._ttl(wanted_ttl, endpoint, now)
            expires_at = now + ttl.value
            hint = IntervalHint(interval.value, expires_at, reason=reason, **self._written_by)
            changed = steering.suggest_interval(endpoint, hint, now, self.cron)
            return Effect(changed, expires_at, _clamps(interval, ttl))

        effect = await self._transition(name, change)
        return {**self._described(effect), "expires_at": iso_or_none(effect.holds_until)}

    async def _propose_next_time(self, arguments: Arguments) -> Answer:
        is_instant = arguments.has("next_run_at_iso")
        if is_instant == arguments.has("next_run_in_ms"):
            raise InvalidInput("arguments", "", "give next_run_at_iso or next_run_in_ms")
        if is_instant:
            run_at = arguments.instant("next_run_at_iso")
        else:
            run_at = self.clock.now() + arguments.duration_ms("next_run_in_ms")
        wanted_ttl = arguments.minutes("ttl_minutes", default=30)
        reason, name = arguments.text("reason"), arguments.text("endpoint")

        def change(endpoint: Endpoint, now: datetime) -> Effect:
            if run_at <= now:
                self._refuse_if_it_ran_meanwhile(endpoint)
            ttl = self._ttl(wanted_ttl, endpoint, now)
            expires_at = now + ttl.value
            hint = OneShotHint(run_at, expires_at, reason=reason, **self._written_by)
            changed = steering.suggest_run_at(endpoint, hint, now, self.cron)
            return Effect(changed, expires_at, _clamps(ttl))

        effect = await self._transition(name, change)
        return {**self._described(effect), "expires_at": iso_or_none(effect.holds_until)}

    async def _pause_until(self, arguments: Arguments) -> Answer:
        until_at = arguments.instant_or_null("until_iso")
        reason, name = arguments.text("reason"), arguments.text("endpoint")

        def change(endpoint: Endpoint, now: datetime) -> Effect:
            if until_at is None or until_at <= now:
                as_planner = (endpoint, Author.PLANNER, now, self.cron)
                return Effect(steering.resume(*as_planner, **self._on_behalf))
            policy, authority = self.context.job.planner, self._authority
            bounds.check_pauses_allowed(policy, authority)
            longest = bounds.longest_pause(endpoint, policy, authority, now)
            length = bounded("pause", until_at - now, timedelta(0), longest)
            end_at = now + length.value if length.clamped else until_at
            if end_at <= now:
                raise Refused("its max_interval since its last run is over; it may not be paused")
            changed = steering.pause(
                endpoint, end_at, Author.PLANNER, reason, now, self.cron, **self._written_by
            )
            return Effect(changed, end_at, _clamps(length))

        return self._described(await self._transition(name, change))

    async def _clear_hints(self, arguments: Arguments) -> Answer:
        arguments.text("reason")
        name = arguments.text("endpoint")
        left: list[str] = []

        def change(endpoint: Endpoint, now: datetime) -> Effect:
            as_planner = (endpoint, Author.PLANNER, now, self.cron)
            changed = steering.clear_hints(*as_planner, **self._on_behalf)
            left.extend(describe(hint) for hint in fresh_hints(changed, now) if hint is not None)
            if left and changed == endpoint:
                raise LeftAlone(" and ".join(left))
            return Effect(changed)

        return {**self._described(await self._transition(name, change)), "left_alone": left}

    def _ttl(self, wanted: timedelta, endpoint: Endpoint, now: datetime) -> Bounded:
        longest = bounds.longest_ttl(endpoint, now, self.cron)
        return bounded("ttl", wanted, bounds.MIN_TTL, longest)

    @property
    def _written_by(self) -> dict[str, Any]:
        """Who wrote a hint or a pause, as data with it."""
        return {"session_id": self.session_id, **self._on_behalf}

    @property
    def _on_behalf(self) -> dict[str, Any]:
        return {"brain": self.brain, "rule_id": self._rule_id}

    async def _transition(self, name: str, change: Change) -> Effect:
        """Change an endpoint as the planner, counted, in one transaction of the store.

        A planner that may only advise gets what would have taken effect; nothing is written.
        """
        async with self.store.transaction() as tx:
            endpoint_id = await self._resolve(tx, name)
            stored = await tx.lock_endpoint(self._analysed.tenant_id, endpoint_id)
            endpoint, now = stored.endpoint, stored.read_at
            if endpoint.archived_at is not None:
                raise Refused("it is archived")
            effect = change(endpoint, now)
            changed = steering.counted_for_planner(endpoint, effect.endpoint, now)
            if changed != endpoint and not self._advises:
                await save_transitions(tx, [(endpoint, changed)], By(session_id=self.session_id))
        holds_until = effect.holds_until or now + SUGGESTION_TTL
        effect = replace(effect, endpoint=changed, holds_until=holds_until)
        if changed != endpoint:
            self._effect = effect
        return effect

    def _described(self, effect: Effect) -> Answer:
        endpoint = effect.endpoint
        plan_clamps = endpoint.plan.clamps if endpoint.plan is not None else ()
        answer = {
            "ok": True,
            "endpoint": endpoint.name,
            "next_run_at": iso_or_none(endpoint.next_run_at),
            "source": endpoint.next_source,
            "in_flight": endpoint.in_flight,
            "clamped": [*effect.clamps, *plan_clamps],
        }
        return {**answer, "suggested_only": True} if self._advises else answer

    async def _resolve(self, tx: Transaction, name: str) -> UUID:
        if name in ("", self._analysed.name):
            return self._analysed.id
        siblings = await tx.sibling_ids(self._analysed)
        if name in siblings:
            return siblings[name]
        raise InvalidInput("endpoint", name, f"this job has {_listed(sorted(siblings))}")

    def _refuse_if_it_ran_meanwhile(self, endpoint: Endpoint) -> None:
        for slot_at in (endpoint.running_slot_at, endpoint.last_slot_at):
            if slot_at is not None and slot_at > self.context.now:
                raise Refused("it has run since this analysis began")

    # --- Finish ---------------------------------------------------------------------------

    async def _submit_analysis(self, arguments: Arguments) -> Answer:
        reasoning = arguments.text("reasoning", longest=4000)
        confidence, clamps = arguments.share("confidence")
        arguments.has("actions_taken")  # allowed, and of no use: the calls are on record
        next_analysis_at = None
        if arguments.has("next_analysis_in_ms"):
            wanted = arguments.duration_ms("next_analysis_in_ms")
            shortest, longest = bounds.MIN_NEXT_ANALYSIS, bounds.MAX_NEXT_ANALYSIS
            length = bounded("next analysis", wanted, shortest, longest)
            next_analysis_at = self.clock.now() + length.value
            clamps += _clamps(length)
        self.submission = Submission(reasoning, confidence, next_analysis_at)
        next_at = iso_or_none(next_analysis_at)
        return {"ok": True, "next_analysis_at": next_at, "clamped": list(clamps)}


def _listed(names: list[str]) -> str:
    if len(names) > MAX_NAMES:
        names = [*names[:MAX_NAMES], f"{len(names) - MAX_NAMES} more"]
    return ", ".join(names) or "no other endpoint"


def _clamps(*values: Bounded) -> tuple[str, ...]:
    return tuple(value.clamped for value in values if value.clamped)
