"""Which server and key a command takes: what is given, what is set, what `up` left behind."""

import json
from pathlib import Path

import pytest

from cadenza.roots.cli_context import find_admin, find_server
from tests.cli.support import Person

NAMES = (
    "CADENZA_API_URL",
    "CADENZA_API_KEY",
    "CADENZA_ADMIN_KEY",
    "CADENZA_OPERATOR_KEY",
    "CADENZA_DATA_FOLDER",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two below one in which `up` was run."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    data = tmp_path / ".cadenza"
    data.mkdir()
    left = {"url": "http://127.0.0.1:8090", "key": "cdz_left"}
    (data / "client.json").write_text(json.dumps(left))
    (data / "operator.key").write_text("operator-left\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return data


def test_what_up_left_in_a_folder_above_is_found(folder: Path) -> None:
    server = find_server(None, None)
    assert (server.url, server.key) == ("http://127.0.0.1:8090", "cdz_left")
    admin = find_admin(None, None)
    assert (admin.url, admin.key) == ("http://127.0.0.1:8090", "operator-left")
    assert admin.key_from == str(folder / "operator.key")


def test_what_is_set_wins_over_what_was_left_and_what_is_given_over_both(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CADENZA_API_URL", "https://cadenza.example/")
    monkeypatch.setenv("CADENZA_API_KEY", "cdz_set")
    server = find_server(None, None)
    assert (server.url, server.key) == ("https://cadenza.example", "cdz_set")
    server = find_server("http://other", "cdz_given")
    assert (server.url, server.key) == ("http://other", "cdz_given")


def test_a_key_goes_only_to_the_server_that_it_was_made_for(folder: Path) -> None:
    assert find_server("http://evil.example", None).key is None
    assert find_admin("http://evil.example", None).key is None
    assert find_server("http://127.0.0.1:8090/", None).key == "cdz_left"


def test_with_nothing_at_hand_the_usual_address_is_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CADENZA_DATA_FOLDER", "elsewhere")
    assert find_server(None, None).url == "http://127.0.0.1:8080"
    assert find_server(None, None).key is None


def test_a_server_that_is_away_ends_with_five(person: Person) -> None:
    done = person.cadenza("jobs", "list", "--server", "http://127.0.0.1:1", "--key", "cdz_x")
    assert done.code == 5
    assert "cadenza up" in done.err


def test_a_command_that_does_not_exist_is_told_with_one_that_does(person: Person) -> None:
    done = person.cadenza("job", "list")
    assert done.code == 2
    assert "Did you mean 'jobs'?" in " ".join(done.err.replace("│", " ").split())


def test_the_admins_key_is_found_by_either_name_the_newer_one_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CADENZA_OPERATOR_KEY", "older")
    admin = find_admin(None, None)
    assert (admin.key, admin.key_from) == ("older", "CADENZA_OPERATOR_KEY")
    monkeypatch.setenv("CADENZA_ADMIN_KEY", "newer")
    admin = find_admin(None, None)
    assert (admin.key, admin.key_from) == ("newer", "CADENZA_ADMIN_KEY")
    assert find_admin(None, "given").key_from == "--key"
