"""The demo, shortened: the schedule tightens, acts and relaxes, and says why."""

import json
import subprocess
import sys
from typing import Any

import pytest

from cadenza.domain.endpoint import Every
from cadenza.roots.demo.shop import Shop
from cadenza.roots.demo.stage import scaled
from cadenza.roots.examples import example_job
from tests.factories import seconds


def _demo(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cadenza.roots.main", "demo", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    done = _demo("--length", "20s", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _acts(told: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {each["endpoint"]: each for each in told["acts"] if each["kind"] == kind}


def test_it_tightens_acts_and_relaxes_in_this_order_and_says_why(told: dict[str, Any]) -> None:
    tightened, acted, relaxed = (_acts(told, each) for each in ("tightened", "acted", "relaxed"))
    assert "200 visitors or more" in tightened["shop"]["why"]
    assert "pages take more than a second" in acted["add_workers"]["why"]
    assert "the rush is over" in relaxed["shop"]["why"]
    assert "workers cost money" in acted["release_workers"]["why"]
    assert tightened["shop"]["after_s"] < relaxed["shop"]["after_s"]
    assert acted["add_workers"]["after_s"] < acted["release_workers"]["after_s"]


def test_every_call_was_answered_and_what_acts_ran_once(told: dict[str, Any]) -> None:
    endpoints = told["endpoints"]
    assert all(each["failed"] == 0 for each in endpoints.values())
    assert endpoints["shop"]["hinted"] > 2
    assert endpoints["shop"]["shortest_gap_s"] < endpoints["shop"]["longest_gap_s"]
    assert endpoints["tell_operations"]["runs"] >= 1
    assert endpoints["add_workers"]["runs"] >= 1


def test_without_a_terminal_it_tells_the_story_in_lines() -> None:
    done = _demo("--length", "15s")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "a calm shop" in lines[0]
    assert any("tightened  shop now runs every" in line for line in lines)
    assert any("relaxed    shop returns to its baseline" in line for line in lines)
    assert "\x1b" not in done.stdout


def test_a_length_that_cannot_be_is_refused_with_the_fix() -> None:
    for length in ("1s", "soon", "2h"):
        done = _demo("--length", length)
        assert done.returncode == 1
        assert "--length" in done.stderr


def test_more_workers_make_the_shop_fast_again() -> None:
    share = 0.3
    shop = Shop(lambda: share)
    slow = shop.page_load_ms
    shop.add_workers()
    assert slow > 1000 > shop.page_load_ms
    shop.release_workers()
    share = 0.9
    assert shop.page_load_ms < 500


def test_a_shorter_demo_has_shorter_intervals_but_none_below_a_second() -> None:
    job = scaled(example_job("demo.yaml"), 0.1)
    shop = next(each for each in job.endpoints if each.name == "shop")
    assert shop.baseline == Every(seconds(1.2))
    assert shop.min_interval == seconds(1)
    assert job.rules[0].then.duration == seconds(1)
