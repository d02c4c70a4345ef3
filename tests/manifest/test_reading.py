"""Documents into definitions, patched, and the errors where they are wrong."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import HttpTarget, Secret, ShellTarget
from cadenza.manifest.models import EndpointDocument, ManifestDocument
from cadenza.manifest.reading import contradictions_of, errors_of, merged, read_endpoint

URL = {"name": "a", "every": "5m", "url": "https://example.com/"}
COMMAND = {"name": "a", "every": "5m", "command": ["ls"]}
HUSH = "hush-hush-4711"


def read(document: dict[str, Any]) -> Any:
    return read_endpoint(EndpointDocument.model_validate(document))


def errors(document: dict[str, Any]) -> list[InvalidInput]:
    with pytest.raises(ValidationError) as raised:
        EndpointDocument.model_validate(document)
    return errors_of(raised.value)


def refused(document: dict[str, Any]) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        read(document)
    return raised.value


# --- Baselines and targets ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "baseline"),
    [
        ({"every": "5m"}, Every(timedelta(minutes=5))),
        ({"every": 1500}, Every(timedelta(seconds=1.5))),
        ({"every_ms": 1500}, Every(timedelta(seconds=1.5))),
        ({"cron": "0 9 * * *"}, CronLine("0 9 * * *", "UTC")),
        ({"cron": "@daily", "timezone": "Asia/Tokyo"}, CronLine("@daily", "Asia/Tokyo")),
        ({"on_demand": True}, OnDemand()),
        ({"on_demand": False, "every": "5m"}, Every(timedelta(minutes=5))),
    ],
)
def test_one_of_three_baselines(written: dict[str, Any], baseline: object) -> None:
    assert read({"name": "a", "url": "https://example.com/", **written}).baseline == baseline


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({}, "every"),
        ({"on_demand": False}, "every"),
        ({"every": "5m", "cron": "@daily"}, "every"),
        ({"every": "5m", "on_demand": True}, "every"),
        ({"every": "5m", "every_ms": 5}, "every_ms"),
        ({"every": "5m", "timezone": "UTC"}, "timezone"),
        ({"every": "5m", "min_interval": "5m", "min_interval_ms": 5}, "min_interval_ms"),
        ({"every": "5m", "timeout": "5m", "timeout_ms": 5}, "timeout_ms"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(written: dict[str, Any], field: str) -> None:
    assert refused({"name": "a", "url": "https://example.com/", **written}).field == field


def test_a_url_or_a_command_but_not_both_and_not_neither() -> None:
    assert refused({"name": "a", "every": "5m"}).field == "url"
    assert refused({**URL, "command": ["ls"]}).field == "url"
    assert isinstance(read(COMMAND).target, ShellTarget)
    assert isinstance(read(URL).target, HttpTarget)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({**URL, "folder": "/srv"}, "folder"),
        ({**COMMAND, "body": "x"}, "body"),
        ({**COMMAND, "method": "GET"}, "method"),
        ({**COMMAND, "secret_headers": {"A": HUSH}}, "secret_headers"),
    ],
)
def test_a_field_of_the_other_kind_of_target_is_refused(
    document: dict[str, Any], field: str
) -> None:
    error = refused(document)
    assert error.field == field
    assert HUSH not in str(error)


def test_every_contradiction_is_told_not_only_the_first() -> None:
    document = EndpointDocument(name="a", min_interval_ms=5, min_interval="5m")
    assert [error.field for error in contradictions_of(document)] == [
        "every",
        "url",
        "min_interval_ms",
    ]


def test_a_body_that_is_not_text_is_sent_as_json_and_says_so() -> None:
    target = read({**URL, "body": {"größe": [1, 2.5, None, True]}}).target
    assert target.body == '{"größe": [1, 2.5, null, true]}'
    assert target.method == "POST"
    assert target.headers == {"Content-Type": "application/json"}


def test_a_content_type_of_the_owner_is_left_alone_in_any_case() -> None:
    document = {**URL, "body": [], "headers": {"content-TYPE": "text/x"}}
    assert read(document).target.headers == {"content-TYPE": "text/x"}


@pytest.mark.parametrize("body", [[float("nan")], {"a": float("inf")}, [10**5000]])
def test_a_body_that_json_cannot_say_is_refused(body: object) -> None:
    assert refused({**URL, "body": body}).field == "body"


def test_secrets_are_read_as_secrets() -> None:
    target = read({**URL, "secret_headers": {"Authorization": HUSH}}).target
    assert target.secret_headers == {"Authorization": Secret(HUSH)}
    assert HUSH not in repr(target)


# --- Errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "field", "value", "fix"),
    [
        ({"every": "5x"}, "every", "5x", 'write "5m"'),
        ({"every": True}, "every", True, 'write "5m"'),
        ({"every": 1.5}, "every", 1.5, 'write "5m"'),
        ({"every_ms": 0}, "every_ms", 0, "1 is the least"),
        ({"on_demand": "yes"}, "on_demand", "yes", "true or false"),
        ({"url": 7}, "url", 7, "in quotes"),
        ({"method": "get"}, "method", "get", "'GET'"),
        ({"headers": {"int": 5}}, "headers.int", 5, "in quotes"),
        ({"headers": {"body": 5}}, "headers.body", 5, "in quotes"),
        ({"body": 5}, "body", 5, "text, a list or an object"),
        ({"success_statuses": [200, "2"]}, "success_statuses[1]", "2", "whole number"),
        ({"success_statuses": [99]}, "success_statuses[0]", 99, "100"),
        ({"command": "ls -l"}, "command", "ls -l", "a list"),
        ({"max_redirects": 11}, "max_redirects", 11, "10"),
        ({"interval": "5m"}, "interval", "5m", "no such field"),
        ({"name": ""}, "name", "", "must not be empty"),
    ],
)
def test_an_error_names_the_field_the_value_and_the_fix(
    written: dict[str, Any], field: str, value: object, fix: str
) -> None:
    [error] = errors({**URL, **written})
    assert (error.field, error.value) == (field, value)
    assert fix in error.fix


def test_every_error_is_told_at_once_with_its_path() -> None:
    raw = {"version": 2, "jobs": [{"nam": "x"}, 5, {"name": "b", "endpoints": [{"every": "5x"}]}]}
    with pytest.raises(ValidationError) as raised:
        ManifestDocument.model_validate(raw)
    assert [error.field for error in errors_of(raised.value)] == [
        "version",
        "jobs[0].name",
        "jobs[0].nam",
        "jobs[1]",
        "jobs[2].endpoints[0].name",
        "jobs[2].endpoints[0].every",
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret_headers": {"A": 4711}},
        {"secret_headers": HUSH},
        {"secret_headers": [HUSH]},
        {"secret_header": {"A": HUSH}},
        {"SecretHeaders": {"A": HUSH}},
        {"url": {"secret_headers": {"A": HUSH}}},
        {"command": {"A": HUSH}},
        {"endpoints": [{"secret_headers": {"A": HUSH}}]},
    ],
)
def test_no_error_shows_a_secret(wrong: dict[str, Any]) -> None:
    text = "\n".join(map(str, errors({**URL, **wrong})))
    assert text
    assert HUSH not in text
    assert "4711" not in text


# --- Merge patch ----------------------------------------------------------------------------

CRON = {
    "name": "a", "cron": "@daily", "timezone": "Asia/Tokyo", "url": "https://example.com/",
    "headers": {"X-A": "1"}, "secret_headers": {"Key": "***"}, "min_interval": "1m",
    "timeout": "5s",
}  # fmt: skip


def patched(present: dict[str, Any], *patches: dict[str, Any]) -> dict[str, Any]:
    for patch in patches:
        present = merged(present, patch)
        read(present)
    return present


def test_a_patch_of_one_field_leaves_the_others() -> None:
    assert patched(CRON, {"timeout": "9s"}) == {**CRON, "timeout": "9s"}
    assert patched(CRON, {}) == CRON


@pytest.mark.parametrize("first", [{"every": "5m"}, {"every_ms": 5000}, {"on_demand": True}])
def test_another_baseline_takes_the_place_of_a_cron_and_its_zone_and_back(
    first: dict[str, Any],
) -> None:
    away = patched(CRON, first)
    assert "cron" not in away
    assert "timezone" not in away
    back = patched(away, {"cron": "@hourly"})
    assert (back["cron"], "every" in back, "every_ms" in back) == ("@hourly", False, False)
    assert "on_demand" not in back


def test_a_cron_that_is_taken_back_by_name_takes_its_zone_along() -> None:
    assert "timezone" not in patched(CRON, {"cron": None, "every": "5m"})


def test_another_cron_keeps_the_zone_and_the_zone_can_change_alone() -> None:
    assert patched(CRON, {"cron": "@hourly"})["timezone"] == "Asia/Tokyo"
    assert patched(CRON, {"timezone": "UTC"})["cron"] == "@daily"


def test_a_command_takes_the_place_of_a_url_and_all_that_goes_with_it_and_back() -> None:
    shell = patched(CRON, {"command": ["ls"], "folder": "/srv"})
    assert {"url", "headers", "secret_headers"} & set(shell) == set()
    assert shell["timeout"] == "5s"
    web = patched(shell, {"url": "https://example.com/"})
    assert {"command", "folder"} & set(web) == set()


@pytest.mark.parametrize("field", ["every", "min_interval", "max_interval", "timeout"])
def test_either_twin_of_a_duration_takes_the_place_of_the_other(field: str) -> None:
    twin = f"{field}_ms"
    present = {**URL, field: "1m"}
    in_ms = patched(present, {twin: 2000})
    assert (in_ms[twin], field in in_ms) == (2000, False)
    spelled = patched(in_ms, {field: "3s"})
    assert (spelled[field], twin in spelled) == ("3s", False)


@pytest.mark.parametrize("field", ["min_interval", "min_interval_ms"])
def test_null_takes_a_duration_away_under_either_name(field: str) -> None:
    assert read(merged(CRON, {field: None})).min_interval is None


def test_headers_are_patched_one_by_one() -> None:
    patch = {"headers": {"X-B": "2"}, "secret_headers": {"Key": None, "Other": "s"}}
    result = patched(CRON, patch)
    assert result["headers"] == {"X-A": "1", "X-B": "2"}
    assert result["secret_headers"] == {"Other": "s"}


def test_a_header_is_the_same_in_upper_and_lower_case() -> None:
    assert patched(CRON, {"headers": {"x-a": "2"}})["headers"] == {"x-a": "2"}
    assert patched(CRON, {"headers": {"x-a": None}})["headers"] == {}


def test_a_patch_changes_nothing_in_what_it_was_given() -> None:
    present, patch = {**CRON, "headers": {"X-A": "1"}}, {"headers": {"X-A": None}}
    merged(present, patch)
    assert present["headers"] == {"X-A": "1"}
    assert patch == {"headers": {"X-A": None}}
