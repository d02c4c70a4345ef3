"""`cadenza sim` as a person or a script meets it: a process, its output and its exit code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cadenza.domain.instants import from_iso
from cadenza.domain.plan import Source
from cadenza.roots.main import app
from cadenza.sim.scenarios import SCENARIOS
from tests.cli.called import call
from tests.factories import seconds
from tests.sim.test_flash_sale import ACTIONS, HOW_OFTEN, INVESTIGATIONS, MIN, NAMES

CADENZA = Path(sys.executable).with_name("cadenza")
ENDPOINT_KEYS = {"runs", "runs_by_source", "min_gap_s", "max_gap_s", "actions"}


def _cadenza(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", **environment}  # noqa: TID251
    command = [CADENZA, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=settings, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def sale(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What `--json` prints and the page it writes; on a machine that is busy, at the third try."""
    page = tmp_path_factory.mktemp("sim") / "a sale.html"
    for _ in range(3):
        done = _cadenza("sim", "flash-sale", "--json", "--report", str(page))
        if done.returncode == 0:
            break
    told = json.loads(done.stdout)
    assert done.returncode == 0, [check for check in told["checks"] if not check["ok"]]
    return told, page.read_text(encoding="utf-8")


@pytest.fixture
def told(sale: tuple[dict[str, Any], str]) -> dict[str, Any]:
    return sale[0]


def test_the_flash_sale_prints_one_json_object_and_ends_well(told: dict[str, Any]) -> None:
    assert told["ok"] is True
    assert (told["scenario"], told["seed"], told["simulated_s"]) == ("flash-sale", 1, 2400.0)
    assert re.fullmatch("[0-9a-f]{64}", told["log_sha256"])
    assert all(check["ok"] for check in told["checks"])


def test_how_long_it_took_is_shown_and_no_promise_of_the_story(told: dict[str, Any]) -> None:
    assert told["wall_ms"] > 0
    assert not any(" takes " in check["name"] for check in told["checks"])


def test_the_rules_brain_lives_the_same_forty_minutes() -> None:
    done = _cadenza("sim", "flash-sale", "--brain", "rules", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0, [check for check in told["checks"] if not check["ok"]]
    assert told["wall_ms"] > 0


def test_each_endpoint_tells_its_runs_its_gaps_and_its_actions(told: dict[str, Any]) -> None:
    assert set(told["endpoints"]) == set(MIN)
    for name, endpoint in told["endpoints"].items():
        assert set(endpoint) >= ENDPOINT_KEYS
        assert endpoint["runs"] == sum(endpoint["runs_by_source"].values()) > 0
        assert set(endpoint["runs_by_source"]) <= set(Source)
        if endpoint["runs"] > 1:
            assert MIN[name] <= endpoint["min_gap_s"] <= endpoint["max_gap_s"]
        else:
            assert (endpoint["min_gap_s"], endpoint["max_gap_s"]) == (None, None)


def test_each_action_tells_when_it_was_revealed_and_when_it_ran(told: dict[str, Any]) -> None:
    endpoints = told["endpoints"]
    for name in ACTIONS:
        assert len(endpoints[name]["actions"]) == endpoints[name]["runs"] == HOW_OFTEN[name]
    for name in INVESTIGATIONS:
        assert len(endpoints[name]["actions"]) == 1
    for name in (*ACTIONS, *INVESTIGATIONS):
        for action in endpoints[name]["actions"]:
            assert set(action) == {"revealed_at", "ran_at"}
            assert action["revealed_at"].endswith("Z")
            passed = from_iso(action["ran_at"]) - from_iso(action["revealed_at"])
            assert seconds(0) <= passed <= seconds(10)


def test_the_report_is_one_page_that_needs_nothing_else(sale: tuple[dict[str, Any], str]) -> None:
    html = sale[1]
    assert html.lstrip().lower().startswith("<!doctype html>")
    assert "<svg" in html
    assert not re.search(r"https?://", html)
    assert not re.search(r"<(link|script|img|iframe)\b[^>]*(src|href)=|@import|url\(", html)
    for name in (*MIN, *NAMES):
        assert name in html


def test_the_seed_decides_the_log_and_nothing_else_does() -> None:
    first = json.loads(_cadenza("sim", "pause", "--json", PYTHONHASHSEED="1").stdout)
    again = json.loads(_cadenza("sim", "pause", "--json", PYTHONHASHSEED="2").stdout)
    other = json.loads(CliRunner().invoke(app, ["sim", "pause", "--json", "--seed", "2"]).stdout)
    assert first["log_sha256"] == again["log_sha256"] != other["log_sha256"]


def test_list_names_all_scenarios() -> None:
    done = _cadenza("sim", "--list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(SCENARIOS)
    as_json = json.loads(CliRunner().invoke(app, ["sim", "--list", "--json"]).stdout)
    assert [each["name"] for each in as_json] == list(SCENARIOS)


def test_an_unknown_scenario_is_a_clear_error() -> None:
    done = _cadenza("sim", "flash-sail", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no scenario 'flash-sail'" in done.stderr
    assert "Traceback" not in done.stderr
    for name in SCENARIOS:
        assert name in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Name a scenario"),
        (["Flash-Sale"], "There is no scenario 'Flash-Sale'"),
        (["pause", "--seed", "soon"], "--seed"),
        (["pause", "--sead", "1"], "--sead"),
        (["pause", "overrun"], "overrun"),
    ],
)
def test_what_cannot_be_understood_is_refused(arguments: list[str], said: str) -> None:
    done = call("sim", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_help_has_an_example() -> None:
    done = CliRunner().invoke(app, ["sim", "--help"], env={"COLUMNS": "120"})
    assert done.exit_code == 0
    assert "Example: cadenza sim flash-sale" in done.stdout
    for option in ("--seed", "--json", "--report", "--list"):
        assert option in done.stdout


def test_a_terminal_is_shown_a_table_a_timeline_and_a_verdict() -> None:
    done = CliRunner().invoke(app, ["sim", "flash-sale"], env={"COLUMNS": "120"})
    for name in MIN:
        assert name in done.stdout
    for words in ("one-shot hint", "by source", "gaps", "first act", "cooldown", "runs a minute"):
        assert words in done.stdout
    assert "promises kept" in done.stdout.splitlines()[-1]


def test_a_terminal_that_knows_only_ascii_is_shown_them_too() -> None:
    done = _cadenza("sim", "pause", PYTHONIOENCODING="ascii")
    assert "Traceback" not in done.stderr
    assert "nightly_sync" in done.stdout
    assert "promises kept" in done.stdout


@pytest.mark.parametrize("where", ["no such folder/page.html", ""])
def test_a_report_that_cannot_be_written_is_a_clear_error(tmp_path: Path, where: str) -> None:
    done = _cadenza("sim", "pause", "--json", "--report", str(tmp_path / where))
    assert done.returncode not in (0, 2)
    assert "The report cannot be written to" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
