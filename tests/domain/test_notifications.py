"""When news is told: grouped, never the same twice within the cooldown, not in quiet hours."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.delivery import (
    MAX_ATTEMPTS,
    Attempt,
    Delivery,
    Subscription,
    check_kinds,
    retry_at,
    wants,
)
from cadenza.domain.errors import InvalidInput
from cadenza.domain.incident import (
    LEVELS,
    Condition,
    Incident,
    IncidentKind,
    Severity,
    acknowledged,
    changes,
    level_of,
    opened,
    resolved,
    severity_of,
    updated,
)
from cadenza.domain.message import MAX_LISTED, MAX_TITLE, compose, plain
from cadenza.domain.notification import (
    Announcement,
    QuietHours,
    Route,
    check_route,
    matches,
    notified,
    planned,
    quiet_until,
)
from tests.factories import NOON, id_of, minutes, seconds

TENANT = id_of("tenant")
BERLIN = ZoneInfo("Europe/Berlin")


def _condition(measure: int = 1, **fields: object) -> Condition:
    known = (TENANT, IncidentKind.FAILING, "probe", "shop/probe", NOON, measure)
    return Condition(*known, **fields)  # type: ignore[arg-type]


def _incident(measure: int = 1) -> Incident:
    return opened(_condition(measure), None, NOON, uuid4())


def _route(**fields: object) -> Route:
    fields = {"min_severity": Severity.INFO, "group": timedelta(0), **fields}
    return Route(uuid4(), TENANT, uuid4(), NOON, **fields)  # type: ignore[arg-type]


def _fresh(route: Route, incident: Incident) -> Announcement:
    return Announcement(route.id, incident.id)


# --- Incidents ----------------------------------------------------------------------------------


@given(st.sampled_from(IncidentKind), st.integers(0, 1000), st.integers(0, 1000))
def test_more_is_never_less_severe(kind: IncidentKind, one: int, other: int) -> None:
    less, more = sorted((one, other))
    assert level_of(kind, less) <= level_of(kind, more)
    if level_of(kind, less):
        severities = [severity_of(kind, level_of(kind, each)).rank for each in (less, more)]
        assert severities == sorted(severities)
    assert [least for least, _ in LEVELS[kind]] == sorted(least for least, _ in LEVELS[kind])


@given(st.lists(st.integers(0, 15), max_size=60))
def test_incidents_follow_the_state_whatever_it_does(counts: list[int]) -> None:
    known: dict[object, Incident] = {}
    now = NOON
    for count in counts:
        now += seconds(30)
        conditions = [_condition(count)] if count else []
        gone = [one for one in known.values() if one.is_open and not count]
        for change in changes(conditions, known, gone, now, [uuid4() for _ in conditions]):  # type: ignore[arg-type]
            known[change.incident.key] = change.incident
        current = known.get(_condition().key)
        assert (current is not None and current.is_open) == (count > 0)
        if count:
            assert current is not None
            assert current.level == level_of(IncidentKind.FAILING, count)
    assert len({one.id for one in known.values()}) <= 1  # the same within the hour is one


def test_the_same_an_hour_later_is_another() -> None:
    before = resolved(_incident(), NOON)
    soon = opened(_condition(), before, NOON + minutes(59), uuid4())
    assert (soon.id, soon.times) == (before.id, 2)
    late = opened(_condition(), before, NOON + minutes(61), uuid4())
    assert (late.id != before.id, late.times) == (True, 1)


def test_an_acknowledgement_holds_until_it_gets_worse() -> None:
    incident = acknowledged(_incident(), NOON, "user ada")
    assert acknowledged(incident, NOON, "user bob").acknowledged_by == "user ada"
    assert updated(incident, _condition(2), NOON).acknowledged_by == "user ada"
    assert updated(incident, _condition(3), NOON).acknowledged_by is None
    over = resolved(_incident(), NOON)
    assert acknowledged(over, NOON, "user ada") == over


# --- Routes -------------------------------------------------------------------------------------


def test_a_route_tells_of_what_it_is_for() -> None:
    incident = replace(_incident(), job_id=id_of("job"))
    assert matches(_route(), incident)
    assert matches(_route(job_id=id_of("job")), incident)
    assert not matches(_route(job_id=id_of("another")), incident)
    assert not matches(_route(kinds=frozenset([IncidentKind.LATE])), incident)
    assert not matches(_route(min_severity=Severity.ERROR), incident)
    assert not matches(_route(enabled=False), incident)
    assert not matches(replace(_route(), tenant_id=uuid4()), incident)


@given(
    st.lists(st.tuples(st.integers(1, 120), st.integers(0, 12)), max_size=80),
    st.sampled_from([timedelta(0), minutes(5), timedelta(hours=1)]),
    st.booleans(),
)
def test_the_same_is_never_told_twice_within_the_cooldown_and_the_last_state_is_told_at_last(
    steps: list[tuple[int, int]], cooldown: timedelta, recovery: bool
) -> None:
    route = _route(cooldown=cooldown, tells_recovery=recovery)
    incident = _incident()
    announcement = _fresh(route, incident)
    telling: list[tuple[datetime, str]] = []
    now = NOON

    def tell() -> None:
        nonlocal announcement
        announcement = planned(route, incident, announcement, now, UTC)
        if announcement.not_before_at is not None and announcement.not_before_at <= now:
            announcement = notified(announcement, incident, now)
            telling.append((now, incident.state))

    for gap, count in steps:
        now += seconds(gap)
        if count and incident.is_open:
            incident = updated(incident, _condition(count), now)
        elif count:
            incident = opened(_condition(count), incident, now, uuid4())
        elif incident.is_open:
            incident = resolved(incident, now)
        tell()
    for at, state in telling:
        same = [other for other, what in telling if what == state and other != at]
        assert all(abs(at - other) >= cooldown for other in same)
    now += timedelta(days=8)
    tell()
    if incident.is_open:
        assert announcement.notified_state == incident.state
    elif recovery and telling:
        assert telling[-1][1] == "resolved"


def test_news_waits_for_company_no_longer_than_the_first() -> None:
    route = _route(group=seconds(30))
    incident = _incident()
    first = planned(route, incident, _fresh(route, incident), NOON, UTC)
    assert first.due_at == NOON + seconds(30)
    assert first.not_before_at == NOON
    again = planned(route, incident, first, NOON + seconds(20), UTC)
    assert again.due_at == NOON + seconds(30)


def test_what_is_over_before_anybody_was_told_is_told_by_day_and_dropped_by_night() -> None:
    night = QuietHours(time(11), time(13))
    incident = _incident()
    over = resolved(incident, NOON)
    by_day, by_night = _route(), _route(quiet=night)
    assert planned(by_day, over, _fresh(by_day, over), NOON, UTC).due_at == NOON
    assert planned(by_night, over, _fresh(by_night, over), NOON, UTC).due_at is None
    held = planned(by_night, incident, _fresh(by_night, incident), NOON, UTC)
    assert held.due_at == NOON + timedelta(hours=1)
    morning = NOON + timedelta(hours=1)
    assert planned(by_night, incident, held, morning, UTC).not_before_at == morning


def test_critical_passes_quiet_hours_only_where_the_owner_says_so() -> None:
    night, incident = QuietHours(time(11), time(13)), _incident(10)
    for passes in (True, False):
        route = _route(quiet=night, critical_passes=passes)
        planned_at = planned(route, incident, _fresh(route, incident), NOON, UTC).due_at
        assert (planned_at == NOON) == passes


def test_who_acknowledged_is_not_told_but_of_its_end() -> None:
    route, incident = _route(), acknowledged(_incident(), NOON, "user ada")
    nothing = planned(route, incident, _fresh(route, incident), NOON, UTC)
    assert nothing.due_at is None
    known = notified(_fresh(route, incident), _incident(), NOON)
    assert planned(route, resolved(incident, NOON), known, NOON, UTC).due_at == NOON


def test_a_route_that_leaves_out_recoveries_tells_of_the_next_incident_all_the_same() -> None:
    route, first = _route(tells_recovery=False), _incident()
    known = notified(_fresh(route, first), first, NOON)
    over = resolved(first, NOON + minutes(5))
    silent = planned(route, over, known, NOON + minutes(5), UTC)
    assert silent.due_at is None
    soon = NOON + minutes(10)  # the same incident, opened once more
    again = planned(route, opened(_condition(), over, soon, uuid4()), silent, soon, UTC)
    assert again.due_at == NOON + route.cooldown
    tomorrow = NOON + timedelta(days=1)
    another = opened(_condition(), over, tomorrow, uuid4())
    assert planned(route, another, silent, tomorrow, UTC).due_at == tomorrow


def test_another_incident_is_told_where_the_end_of_the_one_before_was_not() -> None:
    """As where the route was disabled meanwhile."""
    route, first = _route(), _incident()
    known = notified(_fresh(route, first), first, NOON)
    tomorrow = NOON + timedelta(days=1)
    another = opened(_condition(), resolved(first, NOON), tomorrow, uuid4())
    news = planned(route, another, known, tomorrow, UTC)
    assert news.due_at == tomorrow
    assert planned(route, another, news, tomorrow, UTC).due_at == tomorrow  # looked at once more


def test_what_was_told_as_open_is_told_as_over_though_another_came_and_went_by_night() -> None:
    night = QuietHours(time(13), time(23))
    route, first = _route(quiet=night), _incident()
    known = notified(_fresh(route, first), first, NOON)
    at = NOON + timedelta(hours=8)
    another = opened(_condition(), resolved(first, NOON + timedelta(hours=2)), at, uuid4())
    news = planned(route, another, known, at, UTC)
    over = planned(route, resolved(another, at), news, at, UTC)
    assert over.due_at == NOON + timedelta(hours=11)


def test_what_gets_worse_and_is_over_at_once_is_over() -> None:
    incident = _incident()
    (change,) = changes([_condition(3)], {incident.key: incident}, [incident], NOON, [uuid4()])
    assert (change.what, change.incident.id) == ("resolved", incident.id)


# --- Quiet hours --------------------------------------------------------------------------------


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),  # noqa: DTZ001
    st.times(),
    st.times(),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_quiet_hours_end_and_within_a_day_whatever_the_clocks_do(
    moment: datetime, begins: time, ends: time, name: str
) -> None:
    begins, ends = begins.replace(second=0, microsecond=0), ends.replace(second=0, microsecond=0)
    if begins == ends:
        return
    now, zone = moment.replace(tzinfo=UTC), ZoneInfo(name)
    until = quiet_until(QuietHours(begins, ends, name), now, zone)
    local = now.astimezone(zone).time()
    inside = begins <= local < ends if begins < ends else not ends <= local < begins
    assert (until is not None) == inside
    if until is not None:
        assert now < until <= now + timedelta(hours=26)


@pytest.mark.parametrize(
    ("now", "end"),
    [
        ("2026-01-15T22:30+01:00", "2026-01-16T07:00+01:00"),
        ("2026-01-16T06:59+01:00", "2026-01-16T07:00+01:00"),
        ("2026-03-28T23:00+01:00", "2026-03-29T07:00+02:00"),  # clocks go forward
        ("2026-10-24T23:00+02:00", "2026-10-25T07:00+01:00"),  # and back
    ],
)
def test_a_night_ends_at_seven_by_the_clock_on_the_wall(now: str, end: str) -> None:
    night = QuietHours(time(22), time(7), "Europe/Berlin")
    until = quiet_until(night, datetime.fromisoformat(now).astimezone(UTC), BERLIN)
    assert until == datetime.fromisoformat(end)


def test_by_day_nobody_is_asleep() -> None:
    assert quiet_until(QuietHours(time(22), time(7)), NOON, UTC) is None


def test_limits_of_a_route_are_named() -> None:
    for field, value in (("group", minutes(16)), ("cooldown", timedelta(days=8))):
        with pytest.raises(InvalidInput) as refused:
            check_route(_route(**{field: value}))
        assert refused.value.field == field
    with pytest.raises(InvalidInput):
        check_route(_route(quiet=QuietHours(time(7), time(7))))


# --- Messages -----------------------------------------------------------------------------------


@given(st.text(max_size=400))
def test_whatever_a_name_holds_a_message_has_no_new_header_markup_or_mention(name: str) -> None:
    incident = replace(_incident(), name=name, detail=name)
    message = compose([incident], "ref", NOON)
    assert "\n" not in message.title
    assert "\r" not in message.title
    assert len(message.title) <= MAX_TITLE
    assert message.body.count("\n") == 2
    shown = plain(name)
    assert not set(shown) & set("<>[]`\r\n\0")
    assert "@everyone" not in shown
    assert "@here" not in shown


def test_a_message_is_written_for_people_and_leads_to_the_page() -> None:
    """Seconds are enough of an instant, and minutes of a long time."""
    begun = replace(_incident(), opened_at=NOON + timedelta(microseconds=692693), detail="HTTP 503")
    over = replace(begun, resolved_at=NOON + timedelta(hours=2, seconds=61), resolved_by="state")
    page = "https://cadenza.example/activity/incidents"
    body = compose([begun, over], "ref", NOON, page).body
    assert "since 2026-03-02T12:00:00Z: HTTP 503" in body
    assert "after 2 h 1 min" in body
    assert page in body.splitlines()


def test_a_thousand_are_counted_and_the_worst_are_named() -> None:
    many = [replace(_incident(), name=f"shop/{number}") for number in range(1000)]
    message = compose([*many, replace(_incident(10), name="shop/worst")], "ref", NOON)
    assert message.severity is Severity.CRITICAL
    assert "shop/worst" in message.body.splitlines()[0]
    assert message.body.count("\n") <= MAX_LISTED + 4
    assert f"and {1001 - MAX_LISTED} more" in message.body


# --- Deliveries ---------------------------------------------------------------------------------


@given(st.sampled_from(["notification", "event", "test"]), st.integers(1, 30))
def test_a_delivery_is_tried_again_later_each_time_and_not_for_ever(kind: str, count: int) -> None:
    delivery = Delivery(uuid4(), TENANT, kind, "t", {}, NOON, NOON, uuid4(), attempt=count)
    again = retry_at(delivery, Attempt("refused"), NOON)
    assert (again is None) == (count >= MAX_ATTEMPTS[kind])
    if again is not None:
        assert seconds(15) <= again - NOON <= timedelta(hours=4)
    assert retry_at(delivery, Attempt(), NOON) is None
    assert retry_at(delivery, Attempt("gone", is_final=True), NOON) is None


def test_a_webhook_wants_kinds_by_name_and_by_how_they_begin() -> None:
    known = (uuid4(), TENANT, "ci", "https://ci.example", NOON)
    one = Subscription(*known, kinds=("run.failed", "incident.*"), job_id=id_of("job"))
    assert wants(one, "run.failed", id_of("job"))
    assert wants(one, "incident.opened", id_of("job"))
    assert not wants(one, "run.finished", id_of("job"))
    assert not wants(one, "run.failed", id_of("another"))
    assert not wants(replace(one, enabled=False), "run.failed", id_of("job"))
    for bad in ("", "a b", "*.failed", "x" * 61, "rün"):
        with pytest.raises(InvalidInput):
            check_kinds([bad])
