"""`cadenza doctor`: each thing that is wrong, with its fix."""

import json
from pathlib import Path

import pytest

from cadenza.doctor import checks as doctor_checks
from cadenza.doctor.checks import check_disk, check_versions
from cadenza.doctor.settings import check_networks
from cadenza.roots.doctor import check_settings
from cadenza.roots.settings import Settings
from tests.cli.called import call


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("settings", "fix"),
    [
        ({"in_flight": 10, "in_flight_per_tenant": 20}, "CADENZA_IN_FLIGHT_PER_TENANT"),
        ({"in_flight_per_tenant": 10, "in_flight_per_host": 20}, "CADENZA_IN_FLIGHT_PER_HOST"),
        ({"tick_seconds": 60}, "CADENZA_TICK_SECONDS"),
        ({"shell_folders": "/srv"}, "CADENZA_SHELL_ALLOWED"),
        ({"shell_allowed": True}, "CADENZA_SHELL_FOLDERS"),
        ({"database_pooler": True}, "CADENZA_DATABASE_URL"),
        ({"llm_provider": "openai"}, "CADENZA_LLM_MODEL"),
        ({"llm_model": "gpt"}, "CADENZA_LLM_PROVIDER"),
        (
            {"llm_provider": "openai", "llm_model": "gpt", "llm_tokens_per_day": 10},
            "CADENZA_LLM_TOKENS_PER_DAY",
        ),
        ({"closed_ports": "many"}, "CADENZA_CLOSED_PORTS"),
    ],
)
def test_settings_that_fight_each_other_are_named_with_the_fix(
    settings: dict[str, object], fix: str
) -> None:
    (check,) = check_settings(Settings(**settings))  # type: ignore[arg-type]
    assert check.state in ("warning", "error")
    assert fix in check.fix


def test_settings_as_they_come_are_right() -> None:
    assert [check.state for check in check_settings(Settings())] == ["ok"]


def test_a_setting_that_is_written_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CADENZA_RETENTION_DAY", "5")
    (check,) = check_settings(Settings())
    assert "CADENZA_RETENTION_DAYS" in check.fix


def test_networks_that_cannot_be_read_are_wrong() -> None:
    assert check_networks(Settings(allowed_networks="10.0.0.0/99")).state == "error"
    assert check_networks(Settings(allowed_networks="loopback")).state == "ok"


def test_a_disk_without_room_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GB free" in check_disk(tmp_path / "not" / "there").what
    monkeypatch.setattr(doctor_checks, "LEAST_DISK", 2**60)
    monkeypatch.setattr(doctor_checks, "FEW_DISK", 2**60)
    assert check_disk(tmp_path).state == "error"


def test_another_version_of_the_server_is_odd() -> None:
    assert [check.state for check in check_versions("0.0.1")] == ["ok", "warning"]
    assert [check.state for check in check_versions(None)] == ["ok"]


def test_where_nothing_runs_it_says_so_and_ends_with_one() -> None:
    done = call("doctor", "--json")
    assert done.exit_code == 1
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["server"]["state"] == checks["database"]["state"] == "error"
    assert all(checks[name]["fix"] for name in ("server", "database"))


def test_settings_that_cannot_be_read_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CADENZA_IN_FLIGHT", "many")
    done = call("doctor")
    assert done.exit_code == 1
    assert "CADENZA_IN_FLIGHT" in done.stdout
