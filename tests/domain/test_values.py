"""The small values: instants, runs, claims, sessions, targets, errors."""

import dataclasses
from datetime import UTC, datetime, timedelta, timezone

import pytest

from cadenza.domain.endpoint import Every
from cadenza.domain.errors import (
    AlreadyRunning,
    CadenzaError,
    InstallationError,
    InvalidCron,
    InvalidInput,
    NotFound,
    Refused,
    StoreUnavailable,
)
from cadenza.domain.instants import FOREVER, from_iso, humanize, iso, iso_or_none, latest
from cadenza.domain.run import FinishedRun, RunStatus
from cadenza.domain.session import Session, SessionEnd, ToolCall
from cadenza.domain.target import HttpTarget
from cadenza.domain.value import replace
from tests.factories import NOON, OK, id_of, make_claim, make_endpoint, seconds

# --- Instants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (NOON, "2026-03-02T12:00:00Z"),
        (NOON + timedelta(microseconds=1), "2026-03-02T12:00:00.000001Z"),
        (NOON.astimezone(timezone(timedelta(hours=5, minutes=45))), "2026-03-02T12:00:00Z"),
        (FOREVER, "9999-01-01T00:00:00Z"),
    ],
    ids=["whole seconds", "microseconds", "from another zone", "for ever"],
)
def test_instants_are_written_in_utc_with_a_z_and_read_back(instant: datetime, text: str) -> None:
    assert iso(instant) == text
    assert from_iso(text) == instant
    assert from_iso(text).utcoffset() == timedelta(0)


def test_no_instant_is_written_as_none() -> None:
    assert iso_or_none(None) is None
    assert iso_or_none(NOON) == "2026-03-02T12:00:00Z"


def test_the_latest_of_those_that_are_given() -> None:
    assert latest(None, NOON, None, NOON - seconds(1)) == NOON
    assert latest(None, None) is None
    assert latest() is None


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (seconds(1.5), "1.5 s"),
        (seconds(90), "90 s"),
        (seconds(120), "2 min"),
        (seconds(121), "121 s"),
        (timedelta(hours=1), "1 h"),
        (timedelta(minutes=90), "1 h 30 min"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_durations_are_spoken_as_people_say_them(duration: timedelta, text: str) -> None:
    assert humanize(duration) == text


# --- Claims and runs ------------------------------------------------------------------------


def test_every_attempt_of_a_slot_has_the_same_key() -> None:
    endpoint = make_endpoint()
    first, second = make_claim(endpoint), make_claim(endpoint, attempt=2, epoch=7)

    assert first.idempotency_key == second.idempotency_key
    assert first.idempotency_key == f"{endpoint.id}:2026-03-02T12:00:00Z"


@pytest.mark.parametrize(
    ("fields", "closes"),
    [
        pytest.param({"attempt": 1, "is_paused": True}, False, id="nothing was lost yet"),
        pytest.param({"attempt": 2}, False, id="one lost attempt"),
        pytest.param({"attempt": 3}, False, id="two lost attempts"),
        pytest.param({"attempt": 4}, True, id="three lost attempts"),
        pytest.param({"attempt": 2, "is_paused": True}, True, id="paused meanwhile"),
        pytest.param({"attempt": 2, "is_archived": True}, True, id="archived meanwhile"),
        pytest.param({"attempt": 2, "is_manual": True}, True, id="a person's run"),
    ],
)
def test_a_lost_slot_is_sent_again_unless_that_helps_nobody(
    fields: dict[str, object], closes: bool
) -> None:
    assert make_claim(make_endpoint(), **fields).must_close is closes


def test_the_first_start_is_known_only_where_no_attempt_was_lost() -> None:
    endpoint, started_at = make_endpoint(), NOON + seconds(3)
    claimed_at = NOON + seconds(1)
    first = make_claim(endpoint, first_claimed_at=claimed_at)
    second = make_claim(endpoint, first_claimed_at=claimed_at, attempt=2)

    assert FinishedRun(first, OK, started_at, started_at).first_started_at == started_at
    assert FinishedRun(first, OK, None, started_at).first_started_at == claimed_at
    assert FinishedRun(second, OK, started_at, started_at).first_started_at == claimed_at


def test_run_statuses_have_their_names_on_the_wire() -> None:
    assert [each.value for each in RunStatus] == [
        "running",
        "success",
        "failure",
        "timeout",
        "cancelled",
    ]


# --- Sessions and targets -------------------------------------------------------------------


def session(**fields: object) -> Session:
    defaults: dict[str, object] = {
        "id": id_of("session"),
        "tenant_id": id_of("tenant"),
        "job_id": id_of("job"),
        "endpoint_id": id_of("probe"),
        "brain": "rules",
        "started_at": NOON,
        "duration": seconds(1),
        "end": SessionEnd.SUBMITTED,
    }
    return Session(**{**defaults, **fields})


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({}, False, id="it did nothing"),
        pytest.param(
            {"tool_calls": (ToolCall("get_latest_response", {}, {}),)}, False, id="it only looked"
        ),
        pytest.param(
            {"tool_calls": (ToolCall("propose_interval", {}, {"ok": False}),)},
            True,
            id="it wanted something, in vain",
        ),
        pytest.param({"tokens": 5}, True, id="it cost something"),
        pytest.param({"warnings": ("odd",)}, True, id="it had a warning"),
        pytest.param({"end": SessionEnd.FAILED}, True, id="it failed"),
        pytest.param({"end": SessionEnd.OUT_OF_CALLS}, True, id="it ran out of calls"),
        pytest.param({"end": SessionEnd.UNFINISHED}, False, id="it stopped without a word"),
    ],
)
def test_a_session_is_stored_where_it_did_wanted_or_cost_something(
    fields: dict[str, object], kept: bool
) -> None:
    assert session(**fields).worth_keeping is kept


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://API.Example.com:8443/x", "api.example.com"),
        ("http://[::1]:80/", "::1"),
        ("not a url", ""),
    ],
)
def test_the_host_of_a_target_is_what_requests_are_counted_by(url: str, host: str) -> None:
    assert HttpTarget(url).host == host


# --- Errors ---------------------------------------------------------------------------------


def test_invalid_input_names_the_field_the_value_and_the_fix() -> None:
    error = InvalidInput("interval_ms", "soon", "expected a whole number")

    assert str(error) == "interval_ms: 'soon' is not valid: expected a whole number"
    assert (error.field, error.value, error.fix) == (
        "interval_ms",
        "soon",
        "expected a whole number",
    )


def test_a_value_of_any_length_makes_a_short_error() -> None:
    assert len(str(InvalidInput("name", "x" * 100_000, "shorter"))) < 120


def test_every_error_on_purpose_is_of_one_tree() -> None:
    assert issubclass(InvalidCron, InvalidInput)
    assert issubclass(AlreadyRunning, Refused)
    assert issubclass(StoreUnavailable, InstallationError)
    for each in (InvalidInput, Refused, NotFound, InstallationError):
        assert issubclass(each, CadenzaError)


def test_for_ever_is_an_ordinary_instant() -> None:
    assert FOREVER > NOON
    assert FOREVER.tzinfo is UTC


# --- Copies ---------------------------------------------------------------------------------


def test_a_copy_is_that_of_dataclasses() -> None:
    endpoint = make_endpoint("probe")
    for changes in ({}, {"failure_count": 3}, {"name": "other", "plan": None}):
        assert replace(endpoint, **changes) == dataclasses.replace(endpoint, **changes)
    assert replace(Every(seconds(1)), interval=seconds(2)) == Every(seconds(2))
    with pytest.raises(KeyError):
        replace(endpoint, no_such_field=1)
