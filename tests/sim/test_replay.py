"""The replay: another brain over recorded answers, side by side, and nothing is written."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cadenza.application.ports.brain import Tools, Usage
from cadenza.domain.analysis import AnalysisContext, Attention, Response
from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import Every, Job
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.rule import ALL_ACT, Mode, Modes
from cadenza.domain.run import RunStatus
from cadenza.domain.target import HttpTarget
from cadenza.replay.compare import compare
from cadenza.replay.history import History, differ
from cadenza.replay.life import relive
from tests.cli.called import Called, call
from tests.factories import NOON, minutes

FILE = """\
jobs:
  - name: shop
    endpoints:
      - {name: queue, every: 15m, min_interval: 15s, max_interval: 30m, url: "https://a.example/"}
    rules:
      - {name: long, endpoint: queue, when: response.depth > 300, then: {interval: 1m},
         reason: wait}
      - {name: calm, endpoint: queue, when: response.depth < 50, then: {clear: true}}
"""


def answer(at: float, body: Any, status: RunStatus = RunStatus.SUCCESS) -> Response:
    return Response(NOON + minutes(at), NOON + minutes(at), status, body)


def busy(at: float) -> bool:
    return 400 <= at < 550


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rules, responses = tmp_path / "other.yaml", tmp_path / "answers.jsonl"
    rules.write_text(FILE)
    lines = (
        {
            "endpoint": "queue",
            "at": (NOON + minutes(at)).isoformat(),
            "body": {"depth": 400 if busy(at) else 20},
        }
        for at in range(0, 1000, 5)
    )
    responses.write_text("\n".join(map(json.dumps, lines)))
    return rules, responses


def _replay(*words: str | Path) -> Called:
    return call("replay", *words)


def test_it_shows_probes_and_changes_side_by_side(files: tuple[Path, Path]) -> None:
    done = _replay("shop/queue", "-f", files[0], "--responses", files[1], "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    recorded, baseline, rules = told["lanes"]
    assert told["changes"] == 2
    assert [each["who"] for each in told["lanes"]] == ["recorded", "baseline", "rules"]
    assert (recorded["probes"], baseline["probes"]) == (200, 67)
    assert rules["probes"] > baseline["probes"]
    assert recorded["mean_delay_s"] == 0
    assert rules["mean_delay_s"] < baseline["mean_delay_s"]


def test_a_person_sees_a_table_a_timeline_and_what_cannot_be_known(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    svg = tmp_path / "replay.svg"
    done = _replay("--job", "shop", "-f", files[0], "--responses", files[1], "--svg", svg)
    assert done.exit_code == 0, done.stderr
    assert "1 sooner, 0 later" in done.stdout
    assert "▲" in done.stdout
    tables = [line for line in done.stdout.splitlines() if "▲" in line or " sooner, " in line]
    assert max(map(len, tables)) <= 80
    assert "Rule long: wait" in done.stdout
    assert "between two probes the state is that of the earlier one" in done.stdout
    assert svg.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shop",), "Name an endpoint like shop/queue"),
        ((), "Name an endpoint like shop/queue"),
        (("shop/que",), "it has queue"),
        (("--job", "shops"), "There is no job 'shops'"),
    ],
)
def test_what_it_cannot_find_is_told(
    files: tuple[Path, Path], words: tuple[str, ...], said: str
) -> None:
    done = _replay(*words, "-f", files[0], "--responses", files[1])
    assert done.exit_code == 2
    assert said in done.stderr


def test_without_history_there_is_nothing_to_replay(files: tuple[Path, Path]) -> None:
    files[1].write_text('{"endpoint": "queue", "body": 1}')
    done = _replay("shop/queue", "-f", files[0], "--responses", files[1])
    assert done.exit_code == 1
    assert "no history" in done.stderr


def test_an_llm_that_is_not_set_up_says_what_is_missing(files: tuple[Path, Path]) -> None:
    done = _replay("shop/queue", "-f", files[0], "--responses", files[1], "--brain", "llm")
    assert done.exit_code == 1
    assert "CADENZA_LLM_MODEL" in done.stderr


class Curious:
    """A brain of another kind: it wants a run every minute, and asks a price."""

    name = "curious"
    attention = Attention.ON_CHANGE
    reserved_tokens = 10

    def model_for(self, _job: Job) -> None: ...

    async def pre_check(self, _context: AnalysisContext) -> None: ...

    async def analyse(self, _context: AnalysisContext, tools: Tools) -> Usage:
        await tools.call("propose_interval", {"interval_ms": 60_000, "reason": "curious"})
        await tools.call("submit_analysis", {"reasoning": "curious"})
        return Usage(tokens=5)


async def test_a_replay_has_the_jobs_budget_and_acts_where_the_job_lets_it_only_advise() -> None:
    seen: list[tuple[float, Modes]] = []

    class Looking(Curious):
        async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
            seen.append((context.job.planner.extra_runs, context.modes))
            return await super().analyse(context, tools)

    endpoint = EndpointDefinition("queue", Every(minutes(15)), HttpTarget("https://shop.example/"))
    policy = PlannerPolicy(llm=Mode.ADVISE, extra_runs=2.0)
    job = JobDefinition("shop", endpoints=(endpoint,), planner=policy)
    histories = {"queue": History([answer(0, {"depth": 1}), answer(200, {"depth": 2})])}
    life = await relive(job, histories, NOON, NOON + minutes(200), Looking())
    assert set(seen) == {(2.0, ALL_ACT)}
    assert len(life.probes["queue"]) > 100


async def test_any_brain_can_be_replayed() -> None:
    endpoint = EndpointDefinition("queue", Every(minutes(15)), HttpTarget("https://shop.example/"))
    job = JobDefinition("shop", endpoints=(endpoint,))
    histories = {"queue": History([answer(0, {"depth": 1}), answer(200, {"depth": 2})])}
    begin, end = NOON, NOON + minutes(200)
    curious = await relive(job, histories, begin, end, Curious())
    plain = await relive(job, histories, begin, end, None)
    assert len(plain.probes["queue"]) == 14
    assert len(curious.probes["queue"]) > 100
    assert curious.sessions[0].tokens == 5
    (told,) = compare(histories, {"baseline": plain, "curious": curious}, ["queue"], begin, end)
    assert [lane.seen for lane in told.lanes] == [1, 0, 1]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"depth": 100}, {"depth": 120}, False),
        ({"depth": 100}, {"depth": 140}, True),
        ({"depth": 0}, {"depth": 0.0}, False),
        ({"state": "up"}, {"state": "down"}, True),
        ({"ok": True}, {"ok": False}, True),
        ({"a": {"b": [1]}}, {"a": {"b": [1]}}, False),
        ({"a": 1}, {"b": 1}, True),
        (None, "text", True),
        (10**400, 1, True),
    ],
)
def test_a_change_is_another_word_or_a_number_that_moved_by_a_quarter(
    before: Any, after: Any, expected: bool
) -> None:
    assert differ(answer(0, before), answer(1, after)) is expected


def test_between_two_probes_the_state_is_that_of_the_earlier_one() -> None:
    first, second = answer(0, 1), answer(10, 2, RunStatus.FAILURE)
    history = History([second, first])
    assert history.at(NOON - timedelta(hours=1)) is first
    assert history.at(NOON + minutes(9)) is first
    assert history.at(NOON + minutes(10)) is second
    assert history.changes() == [NOON + minutes(10)]
    assert History(()).at(NOON) is None
