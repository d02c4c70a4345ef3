"""The dashboard and the alerts speak of metrics that exist, and promtool takes them."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cadenza.adapters.telemetry.catalogue import METRICS, Kind

ROOT = Path(__file__).parent.parent.parent
PROMETHEUS = ROOT / "deploy/prometheus"
DASHBOARD = json.loads((ROOT / "deploy/grafana/cadenza.json").read_text())
RULES = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
COMMAND = (
    r"\bcadenza (?:runs list|sessions list|accounts usage|status|quota|usage|doctor|up|scheduler"
    r"|webhooks deliveries|webhooks resend|notify channels list|notify test)"
)
FROM_ELSEWHERE = {"up", "process_cpu_seconds_total", "process_resident_memory_bytes"}


def series() -> dict[str, set[str]]:
    """Every series that our registries can show, with its labels."""
    known: dict[str, set[str]] = {name: set() for name in FROM_ELSEWHERE}
    for metric in METRICS:
        endings = ("_bucket", "_sum", "_count") if metric.kind is Kind.HISTOGRAM else ("",)
        for ending in endings:
            known[metric.name + ending] = {*metric.labels, *({"le"} if "bucket" in ending else ())}
    return known


SERIES = series()
PROMETHEUS_LABELS = {"job", "instance"}


def named(expression: str) -> set[str]:
    """The series that an expression asks for."""
    bare = re.sub(r'"[^"]*"', "", re.sub(r"\[[^]]*\]", "", expression))
    return set(re.findall(r"\b(?:cadenza|process|python)_\w+|\bup\b(?=\{)", bare))


def labels(expression: str) -> set[str]:
    """Those that it selects and groups by."""
    selected = re.findall(r"[{,]\s*(\w+)\s*(?:=~|!=|=)", expression)
    grouped = re.findall(r"\bby \(([^)]*)\)", expression)
    return {*selected, *(name.strip() for names in grouped for name in names.split(","))}


def panels() -> list[Any]:
    return [
        pytest.param(
            target["expr"], target["legendFormat"], id=f"{panel['title']} {target['refId']}"
        )
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", ())
    ]


def check_expression(expression: str) -> None:
    asked = named(expression)
    assert asked, expression
    assert asked <= set(SERIES), asked - set(SERIES)
    known = PROMETHEUS_LABELS.union(*(SERIES[name] for name in asked))
    assert labels(expression) <= known, labels(expression) - known


@pytest.mark.parametrize(("expression", "legend"), panels())
def test_a_panel_asks_for_what_there_is(expression: str, legend: str) -> None:
    check_expression(expression)
    shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
    asked = PROMETHEUS_LABELS.union(*(SERIES[name] for name in named(expression)))
    assert shown <= asked


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_asks_for_what_there_is_and_says_what_to_do(alert: dict[str, Any]) -> None:
    check_expression(alert["expr"])
    assert alert["labels"]["severity"] in {"warning", "critical"}
    assert len(alert["annotations"]["runbook"]) > 40
    assert named(alert["annotations"]["runbook"]) <= set(SERIES) | {m.name for m in METRICS}


def test_every_expression_of_the_dashboard_is_parsed_by_prometheus(tmp_path: Path) -> None:
    """As recording rules: promtool reads no dashboards."""
    rules = [
        {"record": f"panel:{number}", "expr": case.values[0].replace("$__rate_interval", "5m")}
        for number, case in enumerate(panels())
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", str(file), folder=tmp_path)


def test_every_command_of_a_runbook_exists() -> None:
    reference = (ROOT / "docs/reference/cli.md").read_text()
    used = {
        command
        for alert in ALERTS
        for command in re.findall(COMMAND, alert["annotations"]["runbook"])
    }
    assert len(used) > 5
    assert {command for command in used if command not in reference} == set()


def test_every_alert_is_seen_to_fire_in_a_test() -> None:
    tests = (PROMETHEUS / "alerts_test.yml").read_text()
    assert [alert["alert"] for alert in ALERTS if alert["alert"] not in tests] == []


def test_the_dashboard_shows_every_part() -> None:
    shown = set[str]().union(*(named(case.values[0]) for case in panels()))
    declared = {
        name
        for name in SERIES
        if name.startswith("cadenza_") and not name.endswith(("_sum", "_count"))
    }
    left_out = {
        "cadenza_claims_total",  # the same as runs, but for those under way
        "cadenza_database_connections_limit",
        "cadenza_finish_batch_runs_bucket",
        "cadenza_installation_read_success",
        "cadenza_quota_warnings_total",
        "cadenza_session_duration_seconds_bucket",
    }
    assert declared - shown == left_out


def test_panels_lie_side_by_side() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "command",
    [("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml"),
     ("check", "config", "prometheus.yml")],
    ids=" ".join,
)  # fmt: skip
def test_promtool_takes_it(command: tuple[str, ...], tmp_path: Path) -> None:
    for file in PROMETHEUS.glob("*.yml"):
        shutil.copy(file, tmp_path)
    (tmp_path / "metrics-token").write_text("a token")
    promtool(*command, folder=tmp_path)


def promtool(*command: str, folder: Path) -> None:
    done = subprocess.run(
        ["promtool", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout
