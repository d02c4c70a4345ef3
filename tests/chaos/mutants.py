"""Mutants of our own code. Each breaks one thing that the promises rest on, and is caught.

They are made by patching a function or the text of a statement, here and nowhere in the product:
those of Python code live in simulation, those of SQL in real programs, under the fault that brings
them out.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from zoneinfo import ZoneInfo

from cadenza.adapters.memory import claims as memory_claims
from cadenza.adapters.memory.rows import EndpointRow
from cadenza.adapters.memory.run_rows import MemoryRunRows
from cadenza.adapters.postgres import queries
from cadenza.adapters.signing.cache import CachedSigningKeys
from cadenza.application import finishing
from cadenza.application.clock_steps import ClockSteps, Settled
from cadenza.application.executions import Execution, Executions
from cadenza.application.worker import Worker
from cadenza.domain import governor, outcome
from cadenza.domain.plan import Candidate, Source
from cadenza.domain.run import Claim

BERLIN = ZoneInfo("Europe/Berlin")


@dataclass(slots=True)
class Patch:
    """Puts things in the place of others, and back."""

    undo: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def put(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner)[name]
        setattr(owner, name, value)
        self.undo.append(lambda: setattr(owner, name, before))

    def sql(self, statement: str, text: str, instead: str) -> None:
        """In the text of a statement; it must have been there."""
        before = queries._STATEMENTS[statement]
        assert text in before, f"{statement} has no {text!r} any more"
        queries._STATEMENTS[statement] = before.replace(text, instead)
        self.undo.append(lambda: queries._STATEMENTS.update({statement: before}))


@dataclass(frozen=True, slots=True)
class Mutant:
    about: str
    install: Callable[[Patch], None]
    faults: tuple[str, ...] | None = None  # that bring it out, where real programs are needed
    seen_as: tuple[str, ...] = ()  # what the checker says of it then


@contextmanager
def installed(name: str) -> Generator[None]:
    patch = Patch()
    MUTANTS[name].install(patch)
    try:
        yield
    finally:
        for undo in reversed(patch.undo):
            undo()


# --- Python: in simulation ------------------------------------------------------------------


def _no_epoch(patch: Patch) -> None:
    patch.put(EndpointRow, "is_held_by", lambda row, claim: row.run_id == claim.run_id)


def _no_renewal(patch: Patch) -> None:
    async def renews_nothing(_worker: Any) -> int:
        return 0

    patch.put(Worker, "renew_once", renews_nothing)


def _no_timer(patch: Patch) -> None:
    async def at_once(executions: Any, _claim: Any) -> Any:
        return executions._clock.now()

    patch.put(Executions, "_wait_for_slot", at_once)


def _local_key(patch: Patch) -> None:
    def key(claim: Claim) -> str:
        return f"{claim.endpoint_id}:{claim.slot_at.astimezone(BERLIN).replace(tzinfo=None)}"

    patch.put(Claim, "idempotency_key", property(key))


def _key_of_attempt(patch: Patch) -> None:
    def key(claim: Claim) -> str:
        slot_at = claim.slot_at.replace(microsecond=claim.attempt)
        return f"{claim.endpoint_id}:{slot_at.isoformat()}"

    patch.put(Claim, "idempotency_key", property(key))


def _stale_hints(patch: Patch) -> None:
    real = outcome.finish_run

    def finish(endpoint: Any, *about: Any) -> Any:
        return real(replace(endpoint, interval_hint=None, one_shot_hint=None), *about)

    patch.put(finishing, "finish_run", finish)


def _undeclared(patch: Patch) -> None:
    patch.put(outcome, "skipped_slots", lambda *_: (0, None))


def _blames_the_run(patch: Patch) -> None:
    real = outcome.skipped_slots

    def skipped(*about: Any) -> Any:
        count, reason = real(*about)
        return count, reason and "the run took longer than its interval"

    patch.put(outcome, "skipped_slots", skipped)


def _bursts(patch: Patch) -> None:
    real = governor.plan_next_run
    patch.put(
        outcome, "plan_next_run", lambda now, endpoint, cron, **_: real(
            now, endpoint, cron, after_run=False
        )
    )  # fmt: skip


def _drifts(patch: Patch) -> None:
    patch.put(outcome, "anchor_of", lambda _, finished: finished.first_started_at)


def _no_lease(patch: Patch) -> None:
    real = memory_claims.slot_to_claim
    patch.put(memory_claims, "slot_to_claim", lambda e, _, *about: real(e, None, *about))


def _no_deadline(patch: Patch) -> None:
    patch.put(Execution, "lose", lambda _: None)


def _hints_for_ever(patch: Patch) -> None:
    def candidate(situation: Any) -> Candidate | None:
        hint = situation.endpoint.interval_hint
        if hint is None:
            return None
        return Candidate(Source.AI_INTERVAL, (situation.anchor_at or situation.now) + hint.interval)

    patch.put(governor, "_interval_candidate", candidate)


def _late_results_count(patch: Patch) -> None:
    real = MemoryRunRows.note_late

    async def note_late(rows: Any, finished: Any) -> Any:
        for late in finished:
            run = rows._tables.runs.get(late.claim.run_id)
            if run is not None:
                changed = replace(run, status=late.outcome.status, body=late.outcome.body)
                rows._put(rows._tables.runs, run.id, changed)
        return await real(rows, finished)

    patch.put(MemoryRunRows, "note_late", note_late)


# --- SQL and what else needs real programs --------------------------------------------------


def _sql_no_epoch(patch: Patch) -> None:
    patch.sql("lock_held", "AND e.lease_epoch = claim.epoch", "")


def _sql_no_skip_locked(patch: Patch) -> None:
    patch.sql("claim_due", "SKIP LOCKED", "")


def _sql_no_lease(patch: Patch) -> None:
    patch.sql("claim_due", "AND claimable_from(e) <= (SELECT now FROM clock)", "")


def _sql_no_renewal(patch: Patch) -> None:
    patch.sql("renew", "SET lease_until = cadenza_now() + $4", "SET lease_until = e.lease_until")
    patch.sql("renew", "RETURNING", "AND $4::interval IS NOT NULL RETURNING")


def _one_signature(patch: Patch) -> None:
    real = CachedSigningKeys.keys_of
    first: list[Any] = []

    async def keys_of(keys: Any, tenant_id: Any) -> Any:
        first.append(tenant_id)
        return await real(keys, first[0])

    patch.put(CachedSigningKeys, "keys_of", keys_of)


def _waits_for_the_old_time(patch: Patch) -> None:
    async def settles_nothing(_steps: Any) -> Settled:
        return Settled(restarted=0, left=0)

    patch.put(ClockSteps, "settle", settles_nothing)


STANDSTILL = "standstill"
STALE, TWICE, FOREIGN = ("stale_write",), ("doubled", "overlap"), ("crossed_tenant",)
MUTANTS = {
    "no-epoch": Mutant("a result counts whatever its epoch", _no_epoch),
    "no-renewal": Mutant("leases are not renewed", _no_renewal),
    "no-timer": Mutant("what was claimed ahead starts at once", _no_timer),
    "local-key": Mutant("the key has the slot in local time", _local_key),
    "key-of-attempt": Mutant("each attempt has a key of its own", _key_of_attempt),
    "stale-hints": Mutant("a finish does not see the hints of meanwhile", _stale_hints),
    "undeclared": Mutant("missed slots are not declared", _undeclared),
    "blames-the-run": Mutant("a lost worker is said to be a slow run", _blames_the_run),
    "bursts": Mutant("a run longer than its interval is followed at once", _bursts),
    "drifts": Mutant("intervals are measured from the start of a run", _drifts),
    "no-lease": Mutant("what others hold is claimed", _no_lease),
    "no-deadline": Mutant("a request outlives the lease of its worker", _no_deadline),
    "hints-for-ever": Mutant("an interval hint does not expire", _hints_for_ever),
    "late-results-count": Mutant("a late result changes a run", _late_results_count),
    "sql-no-epoch": Mutant("no epoch predicate in the finish", _sql_no_epoch, ("outlive",), STALE),
    "sql-no-skip-locked": Mutant(
        "no SKIP LOCKED", _sql_no_skip_locked, ("hold_row",), (STANDSTILL,)
    ),
    "sql-no-lease": Mutant("no lease predicate in the claim", _sql_no_lease, (), TWICE),
    "sql-no-renewal": Mutant("a renewal that renews nothing", _sql_no_renewal, (), TWICE),
    "one-signature": Mutant("one tenant's key signs for all", _one_signature, (), FOREIGN),
    "waits-for-the-old-time": Mutant(
        "nothing begins anew by a clock that was set back",
        _waits_for_the_old_time,
        ("clock_back",),
        (STANDSTILL,),
    ),
}
IN_SIMULATION = tuple(name for name, mutant in MUTANTS.items() if mutant.faults is None)
IN_PROGRAMS = tuple(name for name, mutant in MUTANTS.items() if mutant.faults is not None)
