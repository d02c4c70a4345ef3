"""Schedules as code: the difference is shown, asked about, and applied whole or not at all."""

import time
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.manifest import field_types
from cadenza.manifest.durations import parse_duration
from tests.cli.support import Person

SHOP = """
version: 1
jobs:
  - name: shop
    description: Watch the queue
    endpoints:
      - name: queue
        every: 5m
        url: https://shop.example/queue
      - name: report
        cron: 0 9 * * mon-fri
        timezone: Europe/Paris
        url: https://shop.example/report
        secret_headers:
          Authorization: ${SHOP_TOKEN}
"""
ENDPOINTS = 1000


@pytest.fixture
def shop(person: Person, tmp_path: Path) -> Path:
    person.environment["SHOP_TOKEN"] = "s3cret"
    file = tmp_path / "cadenza.yaml"
    file.write_text(SHOP)
    return file


def test_apply_shows_the_difference_and_makes_what_is_missing(person: Person, shop: Path) -> None:
    done = person.cadenza("apply", "-f", shop, "--yes")
    assert done.code == 0, done.err
    assert "+ job shop" in done.out
    assert "+ shop/queue" in done.out
    assert "every: 5m" in done.out
    assert "Applied: 3 created." in done.out
    assert "s3cret" not in done.out + done.err
    assert len(person.cadenza("endpoints", "list").lines) == 2


def test_the_file_is_an_argument_or_an_option_and_not_both(person: Person, shop: Path) -> None:
    done = person.cadenza("apply", shop, "--yes")
    assert (done.code, "Applied: 3 created." in done.out) == (0, True), done.err
    assert "3 unchanged" in person.cadenza("apply", "--file", shop).out
    both = person.cadenza("apply", shop, "-f", "other.yaml")
    assert both.code == 2
    assert "Give one of them" in both.err


def test_a_second_apply_changes_nothing_and_says_so(person: Person, shop: Path) -> None:
    person.cadenza("apply", "-f", shop, "--yes")
    before = [endpoint["revision"] for endpoint in person.cadenza("endpoints", "list").lines]
    again = person.cadenza("apply")  # the file's name goes without saying, and nothing is asked
    assert again.code == 0, again.err
    assert again.out == "Nothing to change: 3 unchanged.\n"
    assert [
        endpoint["revision"] for endpoint in person.cadenza("endpoints", "list").lines
    ] == before


def test_a_change_is_shown_field_by_field(person: Person, shop: Path) -> None:
    person.cadenza("apply", "-f", shop, "--yes")
    shop.write_text(SHOP.replace("every: 5m", "every: 10m\n        timeout: 5s"))
    done = person.cadenza("apply", "-f", shop, "--yes")
    assert "~ shop/queue" in done.out
    assert "every: 5m → 10m" in done.out
    assert "timeout: 5s" in done.out
    assert "Applied: 1 changed, 2 unchanged." in done.out


def test_without_a_terminal_apply_wants_to_be_told_yes(person: Person, shop: Path) -> None:
    done = person.cadenza("apply", "-f", shop)
    assert done.code == 1
    assert "--yes" in done.err
    assert person.cadenza("jobs", "list").lines == []


def test_a_dry_run_only_looks(person: Person, shop: Path) -> None:
    done = person.cadenza("apply", "-f", shop, "--dry-run")
    assert done.code == 0
    assert "Dry run: 3 to create. Nothing was changed." in done.out
    assert person.cadenza("jobs", "list").lines == []
    assert person.gets("apply", "-f", shop, "--dry-run")["counts"] == {"create": 3}


def test_prune_archives_what_the_file_lacks(person: Person, shop: Path) -> None:
    person.cadenza("apply", "-f", shop, "--yes")
    person.queue("depot/old")
    shop.write_text(SHOP[: SHOP.index("      - name: report")])
    again = person.cadenza("apply", "-f", shop)
    assert "Nothing to change" in again.out
    done = person.cadenza("apply", "-f", shop, "--prune", "--yes")
    assert "- shop/report" in done.out
    assert "- job depot" in done.out
    assert [endpoint["name"] for endpoint in person.cadenza("endpoints", "list").lines] == ["queue"]


def test_a_folder_is_applied_whole(person: Person, tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(
            f"jobs: [{{name: {name}, endpoints: [{{name: a, every: 5m, url: 'https://a.example/'}}]}}]"
        )
    assert "Applied: 4 created." in person.cadenza("apply", "-f", folder, "-y").out


def test_a_file_with_a_mistake_changes_nothing_and_shows_the_place(
    person: Person, shop: Path
) -> None:
    shop.write_text(SHOP.replace("every: 5m", "every: 5x"))
    done = person.cadenza("apply", "-f", shop, "--yes")
    assert done.code == 1
    assert "cadenza.yaml:8:16:" in done.err
    assert "Nothing was changed" in done.err
    assert person.cadenza("apply", "-f", "nowhere.yaml").code == 1


def test_a_secret_that_is_not_set_is_named(person: Person, shop: Path) -> None:
    person.environment["SHOP_TOKEN"] = ""
    done = person.cadenza("apply", "-f", shop, "--yes")
    assert done.code == 1
    assert "SHOP_TOKEN is not set" in done.err
    assert person.cadenza("jobs", "list").lines == []


def test_what_only_the_server_refuses_is_told_by_name(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "commands.yaml"
    file.write_text("jobs: [{name: shop, endpoints: [{name: disk, every: 5m, command: [df, -h]}]}]")
    done = person.cadenza("apply", "-f", file, "--yes")
    assert done.code == 1
    assert "shop/disk.command" in done.err


def test_applying_what_was_exported_changes_nothing(person: Person, shop: Path) -> None:
    person.cadenza("apply", "-f", shop, "--yes")
    person.queue("depot/a: b #c")
    exported = person.cadenza("export", "-o", "all.yaml")
    assert exported.out == "Wrote 2 jobs with 3 endpoints to all.yaml.\n"
    assert "s3cret" not in Path("all.yaml").read_text()
    assert Path("all.yaml").read_text() == person.cadenza("export").out
    again = person.cadenza("apply", "-f", "all.yaml", "--prune")
    assert again.code == 0, again.err
    assert "Nothing to change: 5 unchanged." in again.out


def test_export_overwrites_only_when_told(person: Person, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    assert person.cadenza("export", "-o", "mine.yaml").code == 1
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    assert person.cadenza("export", "-o", "mine.yaml", "--force").code == 0
    assert person.cadenza("export").out == "version: 1\njobs: []\n"


def test_a_thousand_endpoints_are_applied_in_seconds(person: Person, tmp_path: Path) -> None:
    endpoints = "\n".join(
        f"      - {{name: e{number}, {baseline}, url: 'https://shop.example/{number}'}}"
        for number in range(ENDPOINTS)
        for baseline in ("on_demand: true" if number % 2 else f"cron: '{number % 60} 9 * * *'",)
    )
    file = tmp_path / "many.yaml"
    file.write_text(f"jobs:\n  - name: many\n    endpoints:\n{endpoints}\n")
    began = time.process_time()  # others work on the same two cores
    first = person.cadenza("apply", "-f", file, "--yes")
    taken = time.process_time() - began
    assert f"Applied: {ENDPOINTS + 1:,} created." in first.out
    assert taken < 20  # 5 s are wanted
    assert (
        f"Nothing to change: {ENDPOINTS + 1:,} unchanged."
        in person.cadenza("apply", "-f", file).out
    )


def test_an_endpoint_is_validated_once_on_each_side_of_the_wire(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    durations: list[int | str] = []

    def counted(duration: int | str) -> timedelta:
        durations.append(duration)
        return parse_duration(duration)

    monkeypatch.setattr(field_types, "parse_duration", counted)
    file = tmp_path / "one.yaml"
    file.write_text(
        "jobs: [{name: a, endpoints: [{name: b, every: 7m, url: 'https://a.example/'}]}]"
    )
    assert "Applied: 2 created." in person.cadenza("apply", "-f", file, "--yes").out
    # Once for the file, and once for each of two requests: the dry run and the apply.
    assert durations == ["7m"] * 3


def test_rules_of_a_job_are_applied_exported_and_shown(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "jobs: [{name: shop, planner: {mode: advise}, rules: "
        "[{name: hurry, when: response.body.queue_depth > 400, then: {interval: 30s}}]}]"
    )
    done = person.cadenza("apply", "-f", file, "--yes")
    assert done.code == 0, done.err
    assert "hurry: when response.body.queue_depth > 400" in person.says("jobs", "show", "shop")
    person.cadenza("export", "-o", "again.yaml")
    assert "Nothing to change" in person.cadenza("apply", "-f", "again.yaml").out


def test_a_changed_rule_shows_the_words_that_changed(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    text = (
        "jobs: [{name: shop, rules: [{name: deep queue, then: {interval: 30s}, when: 'has("
        "response.body.queue_depth) && response.body.queue_depth > 300 && health.failures == 0'"
        "}, {name: late, when: 'true', then: {run_now: true}}]}]"
    )
    file.write_text(text)
    first = person.cadenza("apply", "-f", file, "--yes")
    assert "    rules.late: " in first.out
    file.write_text(text.replace("300", "400"))
    [change] = person.gets("apply", "-f", file, "--dry-run")["changes"]
    when = (
        "has(response.body.queue_depth) && response.body.queue_depth > 300 && health.failures == 0"
    )
    assert change["fields"] == [
        {
            "field": "rules.deep queue.when",
            "before": when,
            "after": when.replace("300", "400"),
        }
    ]
    done = person.cadenza("apply", "-f", file, "--yes")
    assert "~ job shop\n    rules.deep queue.when:\n        …" in done.out
    assert "response.body.queue_depth > [-300-] {+400+} && health.failures" in done.out
    assert "late" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80
