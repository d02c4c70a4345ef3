"""Every scenario keeps its promises with every seed, and a broken one would be seen."""

import asyncio
import json
import re
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from cadenza.adapters.memory.claims import MemoryClaims
from cadenza.adapters.memory.run_rows import MemoryRunRows
from cadenza.domain import governor, outcome, steering
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.run import Claim
from cadenza.sim import flash_sale
from cadenza.sim.play import play
from cadenza.sim.report import write_report
from cadenza.sim.scenarios import SCENARIOS
from cadenza.sim.world import always_true
from tests.sim.lives import SEEDS, broken, live, lived


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_keeps_its_promises_with_every_seed(name: str, seed: int) -> None:
    played = lived(name, seed)
    assert broken(played) == set()
    assert len(played.checks) >= 7
    assert played.world.all_runs()


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_holds_in_every_life_is_checked_again_from_the_runs(name: str) -> None:
    world = lived(name, 1).world
    for endpoint_name in world.names():
        runs = world.runs(endpoint_name)
        least = world.endpoint(endpoint_name).min_interval or timedelta(seconds=1)
        for run in runs:
            assert run.status != "running"
            assert run.started_at is None or run.started_at >= run.slot_at
        for earlier, later in pairwise(runs):
            assert later.slot_at - earlier.slot_at >= least


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_seed_gives_the_same_log_byte_for_byte(name: str) -> None:
    first, second = lived(name, 7).world.log, live(name, 7).world.log
    written = "\n".join(first.lines()).encode()
    assert written == "\n".join(second.lines()).encode()
    assert first.sha256() == second.sha256() == sha256(written).hexdigest()


@pytest.mark.parametrize("name", SCENARIOS)
def test_different_seeds_give_different_logs(name: str) -> None:
    assert len({lived(name, seed).world.log.sha256() for seed in (1, 2, 3)}) == 3


def test_each_line_of_the_log_is_one_json_object_in_the_order_of_time() -> None:
    entries = [json.loads(line) for line in lived("flash-sale", 1).world.log.lines()]
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    assert {entry["kind"] for entry in entries} == {"run.started", "run.finished", "planner.acted"}


def test_the_scenarios_are_the_ones_of_the_story() -> None:
    assert set(SCENARIOS) == {
        "flash-sale",
        "researcher",
        "queue-spike",
        "backoff-and-recovery",
        "overrun",
        "pause",
        "takeover",
        "late-writer",
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_has_a_report_that_needs_nothing_else(name: str, tmp_path: Path) -> None:
    played, page = lived(name, 1), tmp_path / "page.html"
    write_report(played, page)
    html = page.read_text(encoding="utf-8")
    assert "<svg" in html
    assert not re.search(r"https?://|@import|url\(", html)
    for endpoint_name in played.world.names():
        assert endpoint_name in html
    assert html.count("<title>") >= len(played.world.all_runs())  # each run tells why it ran


def test_progress_is_told_and_only_goes_forward() -> None:
    told: list[float] = []
    play(SCENARIOS["queue-spike"], 1, told.append)
    assert told == sorted(told)
    assert 0 <= told[0] < 0.1
    assert 0.9 < told[-1] <= 1


# --- The checks can fail ------------------------------------------------------------------------


async def _idle(*_: object) -> None:
    """A brain that never acts."""


def test_a_brain_that_never_acts_fails_the_flash_sale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash_sale, "think", _idle)
    played = live("flash-sale")
    assert not played.ok
    found = broken(played)
    assert "cache_warm_up runs within 10 s of its reason" in found
    assert "slow_page_analyzer runs within 10 s of its reason" in found
    assert "traffic_monitor runs every 15 s while it sees 6000" in found
    assert "emergency_oncall_page runs once per cooldown" in found
    assert "no hint acts after its expiry" in found  # nothing was hinted: nothing was shown


def test_a_brain_that_is_slow_to_act_fails_the_flash_sale(monkeypatch: pytest.MonkeyPatch) -> None:
    think = flash_sale.think

    async def think_slowly(context: Any, tools: Any) -> None:
        await asyncio.sleep(30)
        await think(context, tools)

    monkeypatch.setattr(flash_sale, "think", think_slowly)
    assert "slack_operations runs within 10 s of its reason" in broken(live("flash-sale"))


def test_a_brain_that_raises_fails_the_flash_sale_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def think(*_: object) -> None:
        raise RuntimeError("out of its mind")

    monkeypatch.setattr(flash_sale, "think", think)
    played = live("flash-sale")
    assert not played.ok
    assert len(played.world.runs("traffic_monitor")) == 40


def test_an_action_without_a_reason_fails_the_flash_sale(monkeypatch: pytest.MonkeyPatch) -> None:
    always = tuple(replace(each, condition=lambda _: True) for each in flash_sale.REMEDIES)
    monkeypatch.setattr(flash_sale, "REMEDIES", always)  # for the brain; not for the checks
    found = broken(live("flash-sale"))
    assert "cache_warm_up never runs after its condition has ended" in found
    assert "slack_operations runs once per cooldown" in found


def test_hints_that_are_never_cleared_fail_the_flash_sale(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(endpoint: Endpoint, *_: object) -> Endpoint:
        return endpoint

    monkeypatch.setattr(steering, "clear_hints", keep)
    assert "traffic_monitor is back at 60 s by minute 22" in broken(live("flash-sale"))


def test_a_run_that_is_early_doubled_open_or_too_close_to_another_is_seen() -> None:
    world = live("overrun").world
    run = world.runs("slow_report")[3]
    early = replace(run, started_at=run.slot_at - timedelta(microseconds=1))
    twice = replace(run, id=world.chance.new_id())
    still_open = replace(run, status="running")
    too_close = replace(run, slot_at=world.runs("slow_report")[2].slot_at + timedelta(seconds=0.9))
    for changes, found in (
        ({run.id: early}, {"no run starts before its slot"}),
        ({twice.id: twice}, {"every slot has one run"}),
        ({run.id: still_open}, {"every run has ended and is stored"}),
        ({run.id: too_close}, {"slow_report keeps its min of 1 s"}),
    ):
        before = dict(world.tables.runs)
        world.tables.runs.update(changes)
        assert {check.name for check in always_true(world) if not check.ok} == found
        world.tables.runs.clear()
        world.tables.runs.update(before)


def test_a_queue_spike_without_its_hint_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "suggest_interval", lambda endpoint, *_: endpoint)
    assert "a run every minute until the hint expires" in broken(live("queue-spike"))


def test_a_backoff_that_does_not_double_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governor, "backed_off", lambda interval, _: interval)
    assert "each failure doubles the gap" in broken(live("backoff-and-recovery"))


def test_a_miss_that_is_not_declared_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "skipped_slots", lambda *_: (0, None))
    assert "every run declares the slot it made us miss" in broken(live("overrun"))


def test_a_pause_that_does_not_hold_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "pause", lambda endpoint, *_, **__: endpoint)
    assert "no run inside the pauses" in broken(live("pause"))


def test_a_store_without_a_fence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryRunRows, "_is_known", lambda *_: True)
    assert "it is kept to be seen" in broken(live("late-writer"))


def test_a_takeover_that_counts_a_failure_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    claim_one = MemoryClaims._claim

    def counted(self: MemoryClaims, endpoint_id: UUID, *rest: Any) -> Claim:
        claim = claim_one(self, endpoint_id, *rest)
        row = self._tables.endpoints[endpoint_id]
        failures = row.endpoint.failure_count + (claim.attempt > 1)
        endpoint = replace(row.endpoint, failure_count=failures)
        self._tables.endpoints[endpoint_id] = replace(row, endpoint=endpoint)
        return claim

    settle = outcome._failure_count
    monkeypatch.setattr(MemoryClaims, "_claim", counted)
    monkeypatch.setattr(
        outcome, "_failure_count", lambda endpoint, result: max(1, settle(endpoint, result))
    )
    assert "no failure is counted" in broken(live("takeover"))
