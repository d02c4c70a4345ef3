"""The frozen corpus: three thousand situations, and what the governor decided in each.

`test_governor_corpus.py` decides all of them again on every run, so that no change of a rule goes
unnoticed. Where a change is meant, write the file anew, from the root of the repository, and look
at what differs before you commit it:

    python -m tests.domain.governor_corpus

The inputs come from a fixed seed and stay the same; only the decisions can differ.
"""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from cadenza.domain.endpoint import Baseline, CronLine, Every, OnDemand
from cadenza.domain.governor import plan_next_run
from cadenza.domain.hint import IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import FOREVER, from_iso, iso, iso_or_none
from cadenza.domain.plan import Inputs, Plan, Source
from tests.factories import CRON, make_endpoint

CORPUS = Path(__file__).with_name("governor_corpus.jsonl.gz")
SEED = "cadenza"
SIZE = 3_000

Case = dict[str, Any]  # instants in ISO-8601, durations in seconds, nothing that is not set
Decision = dict[str, Any]
T = TypeVar("T")

# An ordinary noon, and half an hour before Paris left and entered its winter: in a year that no
# new version of the database of zones changes any more.
STARTS = (
    datetime(2024, 3, 4, 12, tzinfo=UTC),
    datetime(2024, 3, 31, 0, 30, tzinfo=UTC),
    datetime(2024, 10, 27, 0, 30, tzinfo=UTC),
)
SECONDS = (1, 2, 10, 30, 59, 60, 61, 90, 120, 300, 301, 900, 1800, 3600, 5400, 14_400)
CRONS = (
    ["* * * * *", "UTC"],
    ["*/7 * * * *", "America/New_York"],
    ["30 2 * * *", "Europe/Paris"],
    ["15 */2 * * *", "Asia/Kathmandu"],
    ["0 9 * * 1-5", "Australia/Lord_Howe"],
    ["0 0 29 2 *", "UTC"],
    ["0 3 * * *", "Europe/Atlantis"],
)


class Dice:
    """Chance from a seed, the same on every machine and every version of Python."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._throws = 0

    def below(self, limit: int) -> int:
        self._throws += 1
        digest = blake2b(f"{self._seed}/{self._throws}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) % limit

    def pick(self, *options: T) -> T:
        return options[self.below(len(options))]

    def one_in(self, count: int) -> bool:
        return self.below(count) == 0


# --- Cases ----------------------------------------------------------------------------------


def make_cases() -> list[Case]:
    return [_make_case(Dice(f"{SEED}/{number}")) for number in range(SIZE)]


def _make_case(dice: Dice) -> Case:
    now = dice.pick(*STARTS)

    def near() -> str:
        """An instant on either side of now, often on a border, sometimes just beside it."""
        sign, ticks = dice.pick(1, 1, -1), dice.pick(0, 0, 0, 0, 1, -1)
        offset = sign * timedelta(seconds=dice.pick(0, *SECONDS))
        return iso(now + offset + ticks * timedelta(microseconds=1))

    def length() -> int:
        return dice.pick(*SECONDS)

    def pause() -> str:
        return iso(FOREVER) if dice.one_in(4) else near()

    case: Case = {"now": iso(now), "baseline": _make_baseline(dice)}
    sometimes: dict[str, tuple[int, Callable[[], Any]]] = {
        "min": (2, length),
        "max": (3, length),
        "interval_hint": (2, lambda: [length(), near()]),
        "one_shot_hint": (2, lambda: [near(), near()]),
        "person_pause": (6, pause),
        "planner_pause": (6, pause),
        "job_pause": (6, pause),
        "failures": (2, lambda: dice.pick(1, 2, 5, 9)),
        "not_before": (5, near),
        "planned": (3, near),
        "manual_slot": (8, near),
        "spread": (2, lambda: 3),
        "archived": (40, lambda: True),
    }
    case.update((name, make()) for name, (count, make) in sometimes.items() if dice.one_in(count))
    if not dice.one_in(6):
        case["anchor"] = near()
        case["last_slot"] = near() if dice.one_in(5) else case["anchor"]
    case["after_run"] = "anchor" in case and dice.one_in(2)
    return case


def _make_baseline(dice: Dice) -> list[Any]:
    kind = dice.pick("every", "every", "cron", "demand")
    if kind == "every":
        return [kind, dice.pick(*SECONDS)]
    return [kind, *dice.pick(*CRONS)] if kind == "cron" else [kind]


# --- Decisions ------------------------------------------------------------------------------


def decide(case: Case) -> Decision:
    now = from_iso(case["now"])
    interval, one_shot = case.get("interval_hint"), case.get("one_shot_hint")
    endpoint = make_endpoint(
        baseline=_baseline(*case["baseline"]),
        created_at=now - timedelta(seconds=30),
        min_interval=_seconds(case.get("min")),
        max_interval=_seconds(case.get("max")),
        interval_hint=interval and IntervalHint(_seconds(interval[0]), from_iso(interval[1])),
        one_shot_hint=one_shot and OneShotHint(*(from_iso(each) for each in one_shot)),
        person_pause=_pause(case.get("person_pause")),
        planner_pause=_pause(case.get("planner_pause")),
        job_paused_until=_instant(case.get("job_pause")),
        failure_count=case.get("failures", 0),
        not_before_at=_instant(case.get("not_before")),
        last_run_at=_instant(case.get("anchor")),
        last_slot_at=_instant(case.get("last_slot")),
        manual_slot_at=_instant(case.get("manual_slot")),
        plan=_planned(_instant(case.get("planned")), now),
        spread=timedelta(seconds=case.get("spread", 0)),
        archived_at=now if case.get("archived") else None,
    )
    plan = plan_next_run(now, endpoint, CRON, after_run=case["after_run"])
    return {
        "next_run_at": iso_or_none(plan.next_run_at),
        "source": plan.source,
        "winner": plan.winner,
        "clamps": list(plan.clamps),
        "anchor_at": iso_or_none(plan.anchor_at),
    }


def _baseline(kind: str, *arguments: Any) -> Baseline:
    if kind == "every":
        return Every(timedelta(seconds=arguments[0]))
    return CronLine(*arguments) if kind == "cron" else OnDemand()


def _instant(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)


def _seconds(count: int | None) -> timedelta | None:
    return None if count is None else timedelta(seconds=count)


def _pause(text: str | None) -> Pause | None:
    return None if text is None else Pause(from_iso(text))


def _planned(at: datetime | None, now: datetime) -> Plan | None:
    if at is None:
        return None
    inputs = Inputs(now, False, None, None, 0, timedelta(0))
    return Plan(at, Source.BASELINE_INTERVAL, None, Source.BASELINE_INTERVAL, inputs)


# --- The file -------------------------------------------------------------------------------


def read_corpus() -> list[tuple[Case, Decision]]:
    lines = gzip.decompress(CORPUS.read_bytes()).decode().splitlines()
    return [(each["case"], each["decision"]) for each in map(json.loads, lines)]


def write_corpus() -> None:
    """The same bytes for the same decisions: no time of writing, no order by chance."""
    rows = [{"case": case, "decision": decide(case)} for case in make_cases()]
    lines = [json.dumps(row, separators=(",", ":")) for row in rows]
    CORPUS.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))


if __name__ == "__main__":
    write_corpus()
