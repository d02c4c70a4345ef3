"""From what is there to what is wanted."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import CronLine, Every
from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import HttpTarget, Secret, ShellTarget
from cadenza.manifest.difference import (
    CHANGED_SECRET,
    Act,
    Change,
    FieldChange,
    difference,
    kept_secrets_missing,
    with_stored_secrets,
)
from tests.manifest.drawn import jobs

MINUTE = timedelta(minutes=1)
WEB = HttpTarget("https://example.com/", headers={"X-A": "1"})
DEPTH = EndpointDefinition("depth", Every(MINUTE), WEB)
SHOP = JobDefinition("shop", "Watch.", (DEPTH,))
HUSH = "hush-hush-4711"


def secured(value: str) -> JobDefinition:
    target = replace(WEB, secret_headers={"Key": Secret(value)})
    return JobDefinition("shop", "Watch.", (replace(DEPTH, target=target),))


def with_endpoint(endpoint: EndpointDefinition) -> JobDefinition:
    return replace(SHOP, endpoints=(endpoint,))


def acts(changes: list[Change]) -> list[tuple[str, str, str | None]]:
    return [(each.act.value, each.job, each.endpoint) for each in changes]


def only_fields(changes: list[Change]) -> tuple[FieldChange, ...]:
    [change] = [each for each in changes if each.act is Act.UPDATE]
    return change.fields


def test_what_is_new_is_created_with_all_its_fields() -> None:
    job, endpoint = difference([], [SHOP], prune=False)
    assert job == Change(Act.CREATE, "shop", None, (FieldChange("description", None, "Watch."),))
    assert endpoint == Change(
        Act.CREATE,
        "shop",
        "depth",
        (
            FieldChange("every", None, "1m"),
            FieldChange("url", None, "https://example.com/"),
            FieldChange("headers.X-A", None, "1"),
        ),
    )


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(jobs(), max_size=3, unique_by=lambda each: each.name), st.booleans())
def test_the_same_twice_changes_nothing(definitions: list[JobDefinition], prune: bool) -> None:
    changes = difference(definitions, definitions, prune=prune)
    assert {each.act for each in changes} <= {Act.UNCHANGED}
    assert len(changes) == sum(1 + len(job.endpoints) for job in definitions)


def test_an_update_shows_each_changed_field_before_and_after() -> None:
    target = HttpTarget("https://example.com/new", headers={"X-B": "2"})
    wanted = with_endpoint(EndpointDefinition("depth", CronLine("@daily"), target))
    assert only_fields(difference([SHOP], [wanted], prune=False)) == (
        FieldChange("every", "1m", None),
        FieldChange("url", "https://example.com/", "https://example.com/new"),
        FieldChange("headers.X-A", "1", None),
        FieldChange("cron", None, "@daily"),
        FieldChange("headers.X-B", None, "2"),
    )


def test_a_description_belongs_to_the_job() -> None:
    changes = difference([SHOP], [replace(SHOP, description="")], prune=False)
    assert acts(changes) == [("update", "shop", None), ("unchanged", "shop", "depth")]
    assert changes[0].fields == (FieldChange("description", "Watch.", None),)


def test_a_url_becomes_a_command() -> None:
    wanted = with_endpoint(replace(DEPTH, target=ShellTarget(("ls", "-l"))))
    fields = {
        each.field: each.after for each in only_fields(difference([SHOP], [wanted], prune=True))
    }
    assert fields == {"url": None, "headers.X-A": None, "command": ["ls", "-l"]}


def test_what_is_not_in_the_file_is_archived_only_when_asked() -> None:
    other = JobDefinition("other", "", (DEPTH,))
    wanted = with_endpoint(replace(DEPTH, name="new"))
    assert acts(difference([SHOP, other], [wanted], prune=False)) == [
        ("unchanged", "shop", None),
        ("create", "shop", "new"),
    ]
    assert acts(difference([SHOP, other], [wanted], prune=True)) == [
        ("unchanged", "shop", None),
        ("create", "shop", "new"),
        ("archive", "shop", "depth"),
        ("archive", "other", None),
        ("archive", "other", "depth"),
    ]


# --- Secrets --------------------------------------------------------------------------------


def test_the_same_secret_and_a_kept_one_are_no_change() -> None:
    for wanted in (HUSH, "***"):
        changes = difference([secured(HUSH)], [secured(wanted)], prune=False)
        assert {each.act for each in changes} == {Act.UNCHANGED}


def test_another_secret_is_a_change_that_shows_neither() -> None:
    changes = difference([secured(HUSH)], [secured("other-4712")], prune=False)
    assert only_fields(changes) == (FieldChange("secret_headers.Key", "***", CHANGED_SECRET),)
    assert HUSH not in repr(changes)
    assert "4712" not in repr(changes)


def test_a_secret_comes_and_goes_under_its_mask() -> None:
    come = only_fields(difference([SHOP], [secured(HUSH)], prune=False))
    assert come == (FieldChange("secret_headers.Key", None, "***"),)
    gone = only_fields(difference([secured(HUSH)], [SHOP], prune=False))
    assert gone == (FieldChange("secret_headers.Key", "***", None),)


def test_a_kept_secret_is_filled_in_with_the_stored_one() -> None:
    assert with_stored_secrets([secured(HUSH)], [secured("***")]) == [secured(HUSH)]
    assert with_stored_secrets([secured(HUSH)], [secured("new")]) == [secured("new")]
    assert with_stored_secrets([], [SHOP]) == [SHOP]


def test_nothing_can_be_kept_where_nothing_is_stored() -> None:
    [error] = kept_secrets_missing([SHOP], [JobDefinition("first"), secured("***")])
    assert error.field == "jobs[1].endpoints[0].secret_headers.Key"
    with pytest.raises(InvalidInput, match="no stored secret"):
        with_stored_secrets([], [secured("***")])


def test_a_secret_is_kept_under_another_spelling_of_its_header() -> None:
    target = replace(WEB, secret_headers={"KEY": Secret("***")})
    wanted = with_endpoint(replace(DEPTH, target=target))
    [filled] = with_stored_secrets([secured(HUSH)], [wanted])
    assert isinstance(filled.endpoints[0].target, HttpTarget)
    assert filled.endpoints[0].target.secret_headers == {"KEY": Secret(HUSH)}
