"""`cadenza rules test`: over a real server, and with no server at all."""

import json
from pathlib import Path

import pytest

from tests.cli.called import Called, call
from tests.cli.support import Done, Person

FILE = """\
jobs:
  - name: shop
    endpoints:
      - {name: queue, every: 1h, url: "TARGET"}
      - {name: worker, on_demand: true, url: "TARGET"}
    rules:
      - {name: deep, endpoint: queue, when: response.queue_depth > 300, for: 2,
         then: {interval: 30s}}
      - {name: deeper, endpoint: queue, when: response.queue_dept > 600, then: {interval: 10s}}
      - {name: wake, endpoint: queue, when: response.queue_depth >= 0, cooldown: 5m,
         then: {run_now: true, endpoint: worker}}
"""
LINES = [
    {"endpoint": "queue", "at": "2026-03-02T12:00:00Z", "body": {"queue_depth": 301}},
    {"endpoint": "queue", "at": "2026-03-02T12:01:00Z", "body": {"queue_depth": 302}},
    {"endpoint": "queue", "at": "2026-03-02T12:02:00Z", "body": {"queue_depth": "many"}},
    {"endpoint": "queue", "at": "2026-03-02T12:06:00Z", "body": {"queue_depth": 1}},
    {"endpoint": "worker", "at": "2026-03-02T12:07:00Z", "body": None},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cadenza.yaml"
    path.write_text(FILE.replace("TARGET", "https://example.com/"))
    return path


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    path = tmp_path / "responses.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)) + "\n")
    return path


def _test(file: Path, *words: str | Path) -> Called:
    return call("rules", "test", "-f", file, *words)


def test_a_file_of_responses_needs_no_server(file: Path, responses: Path) -> None:
    done = _test(file, "--responses", responses, "--json")
    assert done.exit_code == 0, done.stderr
    deep, deeper, wake = (json.loads(line) for line in done.stdout.splitlines())
    assert (deep["answers"], deep["held"]) == (4, 1)
    assert deep["fired"] == [{"at": "2026-03-02T12:01:00Z", "endpoint": "queue"}]
    assert "queue_depth is text" in deep["no_yes_or_no"][0]["reason"]
    assert deeper["fired"] == []
    assert deeper["why_not"][0] == {
        "reason": "there is no response.queue_dept; the nearest is queue_depth",
        "answers": 4,
    }
    assert [firing["at"][11:16] for firing in wake["fired"]] == ["12:00", "12:06"]
    assert {"reason": "it was within its cooldown", "answers": 1} in wake["why_not"]


def test_a_person_reads_a_table(file: Path, responses: Path) -> None:
    text = _test(file, "--responses", responses).stdout
    assert "shop/deep" in text
    assert "once, 2026-03-02 12:01:00" in text
    assert "the nearest is queue_depth" in text
    assert "2 times, 2026-03-02 12:00:00 to 2026-03-02 12:06:00" in text


def test_a_rule_about_siblings_is_tried_on_their_answers_too(file: Path, responses: Path) -> None:
    file.write_text(
        FILE.partition("    rules:")[0].replace("TARGET", "https://example.com/")
        + """\
    rules:
      - {name: begin, endpoint: worker, when: siblings.queue.response.queue_depth == 302,
         then: {run_now: true}}
"""
    )
    lines = [{"endpoint": "worker", "at": "2026-03-02T12:00:30Z", "body": None}, *LINES]
    responses.write_text("\n".join(map(json.dumps, lines)) + "\n")
    (begin,) = _test(file, "--responses", responses, "--json").stdout.splitlines()
    assert json.loads(begin)["fired"] == [{"at": "2026-03-02T12:01:00Z", "endpoint": "worker"}]


def test_only_the_answers_of_one_endpoint_are_taken(file: Path, responses: Path) -> None:
    done = _test(file, "--responses", responses, "--endpoint", "shop/worker", "--json")
    assert [json.loads(line)["answers"] for line in done.stdout.splitlines()] == [0, 0, 0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "it is no JSON"),
        ("[]", "a body is missing"),
        ('{"at": "2026-03-02T12:00:00Z"}', "a body is missing"),
        ('{"body": 1}', "say whose answer it is"),
        ('{"endpoint": "queue", "at": "noon", "body": 1}', "Invalid isoformat"),
        ('{"endpoint": "queue", "status": "odd", "body": 1}', "is not a valid RunStatus"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_place(
    file: Path, responses: Path, line: str, message: str
) -> None:
    responses.write_text(f"\n{line}\n")
    done = _test(file, "--responses", responses)
    assert done.exit_code == 2
    assert f"{responses}:2: " in done.stderr
    assert message in done.stderr


def test_a_file_that_is_wrong_or_an_endpoint_that_it_lacks_is_refused(
    file: Path, responses: Path
) -> None:
    lacks = _test(file, "--responses", responses, "--endpoint", "shop/queu")
    assert lacks.exit_code == 2
    assert "it has shop/queue, shop/worker" in lacks.stderr
    file.write_text(FILE.replace("queue_depth > 300", "queue_depth >"))
    wrong = _test(file, "--responses", responses)
    assert wrong.exit_code == 1
    assert "column" in wrong.stderr


def test_a_file_without_rules_says_how_to_write_them(file: Path, responses: Path) -> None:
    file.write_text(file.read_text().partition("    rules:")[0])
    assert "docs/how-to/write-rules.md" in _test(file, "--responses", responses).stdout


def run_when_free(person: Person) -> Done:
    for _ in range(100):
        done = person.cadenza("run", "shop/queue", "--wait")
        if "is in flight" not in done.err:
            break
    return done


def test_stored_answers_are_asked_for_and_apply_warns_of_fields_that_are_not_there(
    person: Person, tmp_path: Path
) -> None:
    person.queue()
    assert person.cadenza("run", "shop/queue", "--wait").code == 0
    path = tmp_path / "shop.yaml"
    path.write_text(FILE.replace("TARGET", person.site.target))
    applied = person.cadenza("apply", "-f", path, "--yes", "--json")
    assert applied.code == 0, applied.err
    assert "the nearest is queue_depth" in applied.out + applied.err
    done = person.cadenza("rules", "test", "-f", path, "--endpoint", "shop/queue", "--json")
    assert done.code == 0, done.err
    _, deeper, wake = done.lines
    assert deeper["fired"] == []
    assert len(wake["fired"]) >= 1
    assert deeper["answers"] == wake["answers"] >= 1
    assert run_when_free(person).code == 0  # by its new baseline it may be running
    replayed = person.cadenza("replay", "shop/queue", "--since", "1h", "--json")
    assert replayed.code == 0, replayed.err
    assert replayed.json["lanes"][0]["probes"] >= 2
    assert person.cadenza("sessions", "list", "--json").out == ""  # nothing was written
