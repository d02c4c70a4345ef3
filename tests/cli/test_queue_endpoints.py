"""`cadenza endpoints` for one that publishes to a broker."""

from pathlib import Path

import pytest

from tests.cli.support import Person

BROKER = "amqp://shop@broker.example/shop"
CREATE = ("endpoints", "create", "shop/count", "--every", "5m", "--queue", BROKER)
PASSWORD = "sesame-of-the-broker"


@pytest.fixture
def owner(person: Person) -> Person:
    person.gets("jobs", "create", "shop")
    return person


def test_a_queue_is_created_shown_and_changed(owner: Person) -> None:
    owner.environment["BROKER_PASSWORD"] = PASSWORD
    options = ("--topic", "orders", "--exchange", "shop", "--password", "${BROKER_PASSWORD}")
    made = owner.gets(*CREATE, *options, "--reply-to", "answers", "--timeout", "10m")
    target = made["target"]
    assert (target["queue"], target["topic"], target["exchange"]) == (BROKER, "orders", "shop")
    assert (target["has_password"], target["await_result"]) == (True, True)
    shown = owner.says("endpoints", "show", "shop/count")
    for text in (BROKER, "orders", "set (never shown)", "its reported result, also in answers"):
        assert text in shown
    assert PASSWORD not in shown
    assert BROKER in owner.says("endpoints", "list", "--wide")
    edited = owner.gets("endpoints", "edit", "shop/count", "--reply-to", "none", "--await-result")
    assert (edited["target"]["reply_to"], edited["target"]["await_result"]) == (None, True)
    plain = owner.gets("endpoints", "edit", "shop/count", "--no-await-result")
    assert (plain["target"]["await_result"], plain["target"]["has_password"]) == (False, True)


def test_a_password_is_not_written_at_the_command_line(owner: Person) -> None:
    done = owner.cadenza(*CREATE, "--topic", "orders", "--password", PASSWORD)
    assert (done.code, PASSWORD in done.err, "history" in done.err) == (2, False, True)
    unset = owner.cadenza(*CREATE, "--topic", "orders", "--password", "${NOT_THERE}")
    assert "NOT_THERE is not set" in unset.err


def test_it_is_applied_from_a_file_and_exported(owner: Person, tmp_path: Path) -> None:
    owner.environment["BROKER_PASSWORD"] = PASSWORD
    (tmp_path / "cadenza.yaml").write_text(
        "version: 1\njobs:\n  - name: shop\n    endpoints:\n"
        "      - {name: count, every: 5m, queue: nats://broker.example, topic: orders.count,\n"
        "         password: '${BROKER_PASSWORD}', await_result: true}\n"
    )
    owner.says("apply", "--yes", "-f", "cadenza.yaml")
    exported = owner.says("export")
    assert "queue: nats://broker.example" in exported
    assert PASSWORD not in exported
    again = owner.says("apply", "--yes", "-f", "cadenza.yaml")
    assert "Nothing" in again or "nothing" in again
