"""`cadenza settings`: every value with its origin, no secret, all mistakes at once."""

import json

import pytest
from typer.testing import CliRunner

from cadenza.domain.quota import Limits
from cadenza.roots.main import app
from cadenza.roots.planner_limits import planner_limits
from cadenza.roots.settings import PREFIX, Settings, read_settings, variables_of
from tests.cli.called import call

SECRET = "a-secret-that-is-long-enough"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        for variable in variables_of(name):
            monkeypatch.delenv(variable, raising=False)


def test_every_setting_is_shown_with_where_it_came_from() -> None:
    environment = {"CADENZA_IN_FLIGHT": "7", "CADENZA_OPERATOR_KEY": SECRET}
    done = CliRunner().invoke(app, ["settings", "--json"], env=environment)
    rows = {row["variable"]: row for row in json.loads(done.stdout)}
    assert list(rows) == [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    assert rows["CADENZA_IN_FLIGHT"] == {
        "variable": "CADENZA_IN_FLIGHT",
        "value": 7,
        "from": "environment",
    }
    assert rows["CADENZA_CONNECTIONS"]["from"] == "default"
    assert rows["CADENZA_ADMIN_KEY"]["value"] == "***"
    assert rows["CADENZA_ADMIN_KEY"]["from"] == "environment"  # by its older name
    assert rows["CADENZA_DATABASE_URL"]["value"] is None


def test_the_table_shows_no_secret() -> None:
    done = CliRunner().invoke(app, ["settings"], env={"CADENZA_OPERATOR_KEY": SECRET})
    assert "CADENZA_ADMIN_KEY" in done.stdout
    assert SECRET not in done.stdout


def test_all_that_is_wrong_is_told_at_once_and_no_secret_with_it() -> None:
    environment = {
        "CADENZA_IN_FLIGHT": "many",
        "CADENZA_TICK_SECONDS": "0",
        "CADENZA_OPERATOR_KEY": "short-secret",
    }
    done = CliRunner().invoke(app, ["settings"], env=environment)
    assert done.exit_code == 1
    for name in environment:
        assert name in str(done.exception)
    assert "short-secret" not in str(done.exception)


def test_the_admins_key_is_read_by_either_name_the_newer_one_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CADENZA_OPERATOR_KEY", SECRET)
    assert _admin_key() == SECRET
    monkeypatch.setenv("CADENZA_ADMIN_KEY", "")
    assert _admin_key() == SECRET
    monkeypatch.setenv("CADENZA_ADMIN_KEY", f"newer-{SECRET}")
    assert _admin_key() == f"newer-{SECRET}"


def _admin_key() -> str:
    key = read_settings().admin_key
    assert key is not None
    return key.get_secret_value()


def test_models_have_limits_where_nobody_set_any() -> None:
    limits = planner_limits(Settings())
    assert limits.session_tokens == 50_000
    assert limits.per_day == Limits(500_000, 2)
    assert limits.per_month == Limits(5_000_000, 20)


def test_networks_that_only_up_opens_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CADENZA_ALLOWED_NETWORKS", raising=False)
    rows = {row["variable"]: row for row in json.loads(call("settings", "--json").stdout)}
    assert rows["CADENZA_ALLOWED_NETWORKS"]["with_up"] == "loopback,private"
    assert "loopback,private under `cadenza up`" in call("settings").stdout
