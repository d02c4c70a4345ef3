"""Jobs and endpoints by their names: made, listed, shown, changed, ended."""

import json
from uuid import UUID, uuid4

import pytest

from tests.cli.support import Person

ANSI = "\x1b"


def test_the_lines_that_up_prints_work_as_they_stand(person: Person) -> None:
    assert person.cadenza(
        "jobs", "create", "shop", "--description", "Watch the queue of orders"
    ).code == 0  # fmt: skip
    created = person.cadenza(
        "endpoints", "create", "shop/queue", "--url", person.site.target, "--every", "1s"
    )
    assert created.code == 0, created.err
    tailed = person.cadenza("tail", "--count", "2")
    assert tailed.code == 0, tailed.err
    assert [event["kind"] for event in tailed.lines if event["kind"] == "run.finished"] == [
        "run.finished"
    ] * 2


def test_nothing_there_says_what_to_do_next(person: Person) -> None:
    assert "cadenza jobs create" in person.says("jobs", "list")
    assert "cadenza endpoints create" in person.says("endpoints", "list")
    assert "cadenza run" in person.says("runs", "list")
    assert "cadenza analyse" in person.says("sessions", "list")
    assert person.cadenza("jobs", "list", "--json").out == ""


def test_a_job_is_made_listed_shown_changed_and_archived(person: Person) -> None:
    made = person.gets("jobs", "create", "shop", "-d", "Watch the queue")
    assert made["description"] == "Watch the queue"
    assert "Watch the queue" in person.says("jobs", "list")
    assert made["id"] in person.says("jobs", "show", "shop")
    assert person.gets("jobs", "show", made["id"]) == person.gets("jobs", "show", "shop")
    assert person.gets("jobs", "edit", "shop", "--name", "store")["name"] == "store"
    assert "paused until" in person.says("jobs", "pause", "store", "--until", "2h")
    assert person.gets("jobs", "show", "store")["paused"] is True
    assert person.gets("jobs", "resume", "store")["paused"] is False
    assert person.gets("jobs", "archive", "store", "--yes")["archived_at"] is not None
    assert "cadenza jobs create" in person.says("jobs", "list")
    assert "store" in person.says("jobs", "list", "--archived")


def test_what_happened_to_a_job_is_told_in_one_list(person: Person) -> None:
    person.queue()
    person.cadenza("run", "shop/queue", "--wait")
    timeline = person.says("jobs", "timeline", "shop")
    assert "created by user ada" in timeline
    assert "(a person)" in timeline
    entries = person.cadenza("jobs", "timeline", "shop", "--json").lines
    assert {entry["kind"] for entry in entries} == {"act", "run"}


def test_an_endpoint_says_when_it_runs_next(person: Person) -> None:
    person.cadenza("jobs", "create", "shop")
    text = person.says(
        "endpoints",
        "create",
        "shop/report",
        "--url",
        "https://shop.example/",
        "--cron",
        "0 9 * * mon-fri",
        "--timezone",
        "Europe/Paris",
    )
    assert "Created shop/report." in text
    assert text.count("cron") == 5


def test_every_field_of_an_endpoint_can_be_given(person: Person) -> None:
    person.cadenza("jobs", "create", "shop")
    person.environment["TOKEN"] = "s3cret"
    made = person.gets(
        "endpoints",
        "create",
        "shop/order",
        "--url",
        "https://shop.example/order",
        "--on-demand",
        "--min",
        "10s",
        "--max",
        "1h",
        "--method",
        "put",
        "--header",
        "Accept=text/plain",
        "--header",
        "X-Shop=a=b",
        "--secret-header",
        "Authorization=${TOKEN}",
        "--body",
        '{"n": 1}',
        "--timeout",
        "5s",
        "--success-status",
        "200",
        "--success-status",
        "204",
        "--success-when",
        "status == 204",
        "--max-redirects",
        "2",
    )
    target = made["target"]
    assert target["method"] == "PUT"
    assert target["headers"] == {"Accept": "text/plain", "X-Shop": "a=b"}
    assert target["secret_headers"] == ["Authorization"]
    assert target["success_statuses"] == [200, 204]
    assert (made["min_interval_ms"], made["max_interval_ms"]) == (10_000, 3_600_000)
    assert made["baseline"]["on_demand"] is True
    text = person.says("endpoints", "show", "order")
    assert "at least 10 s, at most 1 h between runs" in text
    assert "s3cret" not in text


def test_a_field_is_changed_and_taken_away(person: Person) -> None:
    person.queue()
    changed = person.gets("endpoints", "edit", "queue", "--max", "2h", "--cron", "@daily")
    assert changed["baseline"]["cron"] == "@daily"
    assert person.gets("endpoints", "edit", "queue", "--max", "none")["max_interval_ms"] is None
    nothing = person.cadenza("endpoints", "edit", "queue")
    assert nothing.code == 2
    assert "Nothing to change" in nothing.err


def test_guardrails_that_fight_the_baseline_are_warned_of(person: Person) -> None:
    person.queue()
    done = person.cadenza("endpoints", "edit", "queue", "--max", "3h", "--json")
    assert "Warning:" in done.err
    assert done.json["warnings"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("Authorization=s3cret", "stay in your history"),
        ("Authorization=${NOT_SET}", "NOT_SET is not set"),
    ],
)
def test_a_secret_is_not_taken_from_the_command_line(
    person: Person, option: str, message: str
) -> None:
    person.queue()
    done = person.cadenza("endpoints", "edit", "queue", "--secret-header", option)
    assert done.code == 2
    assert message in done.err
    assert "s3cret" not in done.err


def test_a_secret_is_asked_for_and_not_shown(person: Person) -> None:
    person.queue()
    arguments = ("endpoints", "edit", "queue", "--secret-header", "X-Key")
    done = person.cadenza(*arguments, "--json", stdin="s3cret\n")
    assert done.code == 0, done.err
    assert "s3cret" not in done.out + done.err
    assert person.gets("endpoints", "show", "queue")["target"]["secret_headers"] == ["X-Key"]


def test_what_the_server_refuses_is_told_with_the_fix(person: Person) -> None:
    person.cadenza("jobs", "create", "shop")
    done = person.cadenza("endpoints", "create", "shop/x", "--url", "https://a/", "--every", "5x")
    assert done.code == 1
    assert 'write "5m"' in done.err
    twice = person.cadenza("jobs", "create", "shop")
    assert twice.code == 1
    assert "choose another" in twice.err


def test_an_endpoint_is_archived_and_its_failures_forgotten(person: Person) -> None:
    made = person.queue()
    ids = UUID(person.gets("whoami")["tenant_id"]), UUID(made["id"])
    person.site.wait_for(person.site.backend.change_endpoint(*ids, failure_count=3))
    assert "failure × 3" in person.says("endpoints", "list")
    assert person.gets("endpoints", "reset-failures", "queue")["failure_count"] == 0
    assert "no runs" in person.says("endpoints", "health", "queue")
    assert person.gets("endpoints", "archive", "queue", "--yes")["archived_at"] is not None
    assert "archived" in person.says("endpoints", "list", "--state", "archived")


# --- Names ------------------------------------------------------------------------------------


def test_names_work_where_ids_do(person: Person) -> None:
    made = person.queue()
    ids = [
        person.gets("endpoints", "show", name)["id"]
        for name in ("shop/queue", "queue", made["id"], made["id"].upper())
    ]
    assert ids == [made["id"]] * 4


def test_a_name_that_several_have_is_asked_about(person: Person) -> None:
    person.queue("shop/queue")
    person.queue("depot/queue")
    done = person.cadenza("endpoints", "show", "queue")
    assert done.code == 2
    assert "shop/queue" in done.err
    assert "depot/queue" in done.err
    assert person.gets("endpoints", "show", "depot/queue")["job_name"] == "depot"


def test_an_unknown_name_is_told_with_those_nearest_to_it(person: Person) -> None:
    person.queue()
    for wrong in ("quee", "shop/quee"):
        done = person.cadenza("endpoints", "show", wrong)
        assert done.code == 3
        assert "Did you mean shop/queue?" in done.err
    assert "Did you mean shop?" in person.cadenza("jobs", "show", "shp").err
    person.queue("shop/report")
    assert "Did you mean shop/queue?" in person.cadenza("explain", "shop/quue").err
    assert "cadenza jobs list" in person.cadenza("jobs", "show", "zzzzzzz").err
    assert person.cadenza("endpoints", "show", str(uuid4())).code == 3
    assert person.cadenza("endpoints", "show", "n" * 500).code == 3


def test_what_is_deleted_under_a_wrong_name_is_told_with_the_nearest(person: Person) -> None:
    person.queue("shop/queue")
    for words in (("endpoints", "shop/quee"), ("jobs", "shopp")):
        done = person.cadenza(words[0], "delete", words[1], "--yes")
        assert done.code == 3
        assert "Did you mean shop" in done.err


def test_an_endpoint_of_a_job_that_is_not_there_says_how_to_make_it(person: Person) -> None:
    done = person.cadenza(
        "endpoints", "create", "my shop/x", "--url", "https://a/", "--every", "5m"
    )
    assert done.code == 3
    assert "cadenza jobs create 'my shop'" in done.err
    for wrong in ("x", "/x", "shop/", "a/b/c"):
        assert person.cadenza("endpoints", "create", wrong, "--url", "https://a/").code == 2


def test_hostile_text_of_a_server_reaches_no_terminal_raw(person: Person) -> None:
    evil = f"{ANSI}]0;owned\a{ANSI}[2J\u202e[red]gnp.exe"
    person.queue()
    person.cadenza("jobs", "edit", "shop", "--description", evil)
    person.cadenza("pause", "queue", "--reason", evil)
    for arguments in (
        ("jobs", "list"),
        ("jobs", "show", "shop"),
        ("endpoints", "show", "queue"),
        ("audit", "list"),
        ("jobs", "timeline", "shop"),
    ):
        as_text = person.says(*arguments)
        as_json = person.cadenza(*arguments, "--json").out
        for text in (as_text, as_json):
            assert not {ANSI, "\a", "\u202e"} & set(text)
    assert "[red]" in person.says("jobs", "show", "shop")
    assert person.gets("jobs", "show", "shop")["description"] == evil


# --- Lists ------------------------------------------------------------------------------------


def test_lists_are_pages_followed_up_to_a_limit(person: Person) -> None:
    for number in range(5):
        person.gets("jobs", "create", f"job {number}")
    assert len(person.cadenza("jobs", "list", "--json").lines) == 5
    assert len(person.cadenza("jobs", "list", "--json", "-n", "2").lines) == 2
    jobs = person.cadenza("jobs", "list", "--json", "--search", "3").lines
    assert [job["name"] for job in jobs] == ["job 3"]
    assert "No jobs match." in person.says("jobs", "list", "--search", "nope")


def test_where_there_is_no_terminal_lists_are_json_lines(person: Person) -> None:
    person.queue()
    (line,) = person.cadenza("endpoints", "list").out.splitlines()
    assert json.loads(line)["name"] == "queue"
    assert ANSI not in person.says("endpoints", "list")


def test_all_endpoints_that_fit_are_acted_on_after_a_question(person: Person) -> None:
    person.queue()
    done = person.cadenza("endpoints", "act", "pause", "--search", "queue")
    assert "Pause 1 endpoint?" in done.err
    assert done.code == 1
    assert "1 endpoint would be paused" in person.says("endpoints", "act", "pause", "--dry-run")
    assert "1 endpoint paused" in person.says("endpoints", "act", "pause", "--yes")
    assert "1 already so" in person.says("endpoints", "act", "clear-hints", "--yes")
    assert "1 endpoint resumed" in person.says(
        "endpoints", "act", "resume", "--state", "paused", "--yes"
    )
    wrong = person.cadenza("endpoints", "act", "resume", "--until", "2h", "--yes")
    assert wrong.code == 2
    assert "--until is for pause" in wrong.err


def test_what_is_archived_is_named_with_how_to_restore_it(person: Person) -> None:
    person.queue()
    person.cadenza("endpoints", "archive", "shop/queue", "--yes")
    gone = person.cadenza("explain", "shop/queue")
    assert gone.code == 3
    assert gone.err.strip() == (
        "shop/queue is archived. Restore it: cadenza endpoints restore shop/queue"
    )
    person.cadenza("jobs", "archive", "shop", "--yes")
    for words in (("jobs", "show", "shop"), ("endpoints", "create", "shop/x", "--every", "5m")):
        refused = person.cadenza(*words)
        assert refused.code == 3
        assert refused.err.strip() == (
            "The job shop is archived. Restore it: cadenza jobs restore shop"
        )


def test_a_cron_of_another_zone_is_shown_by_both_clocks(person: Person) -> None:
    person.cadenza("jobs", "create", "shop")
    text = person.says(
        "endpoints",
        "create",
        "shop/report",
        "--url",
        "https://shop.example/",
        "--cron",
        "0 9 * * *",
        "--timezone",
        "Asia/Tokyo",
    )
    assert text.count(" 09:00:00 (") == 5
