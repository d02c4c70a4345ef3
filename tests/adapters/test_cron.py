"""The Cron port: what it reads, what it refuses, and what happens when clocks change."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.cron.cronsim import MAX_LENGTH, CronsimCron, zone_names
from cadenza.domain.errors import InvalidCron
from tests.effort import at_most

EXAMPLES = 200  # of each property; the same on every run

CRON = CronsimCron()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
TICK = timedelta(microseconds=1)
AT_MOST = 0.1  # seconds of our own time, for the most hostile string on a slow machine

repeatable = settings(max_examples=EXAMPLES, derandomize=True, deadline=None, database=None)


def next_at(expression: str, after: datetime = NOON, timezone: str = "UTC") -> datetime:
    return CRON.next_after(expression, timezone, after)


def occurrences(
    expression: str, timezone: str, after: datetime, until: datetime
) -> Iterator[datetime]:
    while (after := CRON.next_after(expression, timezone, after)) <= until:
        yield after


def local(timezone: str, text: str, fold: int = 0) -> datetime:
    """A local time as an instant, checked to exist."""
    zone = ZoneInfo(timezone)
    given_at = datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold)
    instant = given_at.astimezone(UTC)
    assert instant.astimezone(zone).replace(tzinfo=None) == given_at.replace(tzinfo=None)
    return instant


def local_times(instants: Iterator[datetime], timezone: str) -> list[str]:
    zone = ZoneInfo(timezone)
    return [instant.astimezone(zone).strftime("%d %H:%M %z") for instant in instants]


# --- Five fields ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("* * * * *", "2026-03-02T12:01"),
        ("*/5 * * * *", "2026-03-02T12:05"),
        ("0 0 * * *", "2026-03-03T00:00"),
        ("30 3 * * 1-5", "2026-03-03T03:30"),
        ("0 9 * * MON", "2026-03-09T09:00"),
        ("0 9 * * 7", "2026-03-08T09:00"),
        ("15,45 8-18/2 * * *", "2026-03-02T12:15"),
        ("0 0 1 jan *", "2027-01-01T00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
        ("0 0 L * *", "2026-03-31T00:00"),
        ("0 0 LW * *", "2026-03-31T00:00"),
        ("0 0 * * 5#2", "2026-03-13T00:00"),
        ("0 0 * * 5L", "2026-03-27T00:00"),
        ("  0\t13  * * *  ", "2026-03-02T13:00"),
        ("0 12 13 * 5", "2026-03-06T12:00"),
    ],
)
def test_five_fields_are_read_as_cron_means_them(expression: str, expected: str) -> None:
    assert next_at(expression) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("nickname", "expected"),
    [
        ("@hourly", "2026-03-02T13:00"),
        ("@daily", "2026-03-03T00:00"),
        ("@midnight", "2026-03-03T00:00"),
        ("@weekly", "2026-03-08T00:00"),
        ("@monthly", "2026-04-01T00:00"),
        ("@yearly", "2027-01-01T00:00"),
        ("@annually", "2027-01-01T00:00"),
        (" @Hourly ", "2026-03-02T13:00"),
    ],
)
def test_nicknames_are_translated(nickname: str, expected: str) -> None:
    assert next_at(nickname) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_an_occurrence_is_strictly_after_the_instant() -> None:
    assert next_at("0 12 * * *", NOON) == NOON + DAY
    assert next_at("0 12 * * *", NOON - TICK) == NOON
    assert next_at("0 12 * * *", NOON + TICK) == NOON + DAY


def test_an_occurrence_is_an_aware_instant_in_utc() -> None:
    occurrence = next_at("0 9 * * *", NOON.astimezone(ZoneInfo("Asia/Tokyo")), "Europe/Paris")

    assert occurrence.tzinfo is UTC
    assert occurrence == datetime(2026, 3, 3, 8, 0, tzinfo=UTC)


# --- What is refused ------------------------------------------------------------------------


def refusal(expression: str, timezone: str = "UTC") -> InvalidCron:
    with pytest.raises(InvalidCron) as raised:
        CRON.next_after(expression, timezone, NOON)
    return raised.value


@pytest.mark.parametrize(
    ("expression", "fix"),
    [
        pytest.param("0 * * * * *", "seconds are not supported", id="six fields"),
        pytest.param("* * * *", "expected five fields", id="four fields"),
        pytest.param("* * * * * * *", "expected five fields", id="seven fields"),
        pytest.param("", "got 0", id="nothing"),
        pytest.param(
            "60 * * * *",
            "bad minute '60': expected 0 to 59, *, a list, a range or a step",
            id="a bad minute",
        ),
        pytest.param("* 24 * * *", "bad hour", id="a bad hour"),
        pytest.param("* * 32 * *", "bad day-of-month", id="a bad day"),
        pytest.param("* * * 13 *", "bad month", id="a bad month"),
        pytest.param("* * * * 8", "bad day-of-week", id="a bad weekday"),
        pytest.param("@reboot", "expected one of @yearly", id="a nickname without a time"),
        pytest.param("٥ * * * *", "printable ASCII", id="digits of another script"),
        pytest.param("\u2003* * * * *", "printable ASCII", id="a space of another script"),
        pytest.param("* * * *\x00 *", "printable ASCII", id="a NUL"),
        pytest.param("*\n*\n*\n*\n*", "printable ASCII", id="line breaks between fields"),
        pytest.param("0 0 30 2 *", "never comes: no month of 2 has a day 30", id="30 February"),
        pytest.param("0 0 31 4,6,9,11 *", "never comes", id="the 31st of short months"),
        pytest.param("0 0 */31 * MON#5", "within five years", id="a first that is a fifth Monday"),
        pytest.param("0 0 * 2 MON#5", "within five years", id="a fifth Monday in February"),
    ],
)
def test_a_refusal_names_the_field_and_says_what_to_do(expression: str, fix: str) -> None:
    error = refusal(expression)

    assert error.field == "cron"
    assert error.value == expression
    assert fix in str(error)


def test_an_expression_has_at_most_128_characters() -> None:
    longest = "0," * 59 + "0 " + "* * * *"
    longest += " " * (MAX_LENGTH - len(longest))

    assert len(longest) == 128
    assert next_at(longest) == NOON + HOUR
    assert "at most 128 characters" in str(refusal(longest + " "))


def test_an_expression_is_refused_where_its_next_occurrence_is_more_than_five_years_away() -> None:
    in_2096 = datetime(2096, 3, 1, tzinfo=UTC)  # 2100 is no leap year: the next is in 2104
    with pytest.raises(InvalidCron, match="five years: it next comes on 2104-02-29"):
        next_at("0 0 29 2 *", in_2096)
    with pytest.raises(InvalidCron, match="it next comes on 2104-02-29"):
        next_at("* * 29 2 *", in_2096, "Europe/Paris")


def test_the_end_of_the_calendar_is_refused_and_not_an_accident() -> None:
    with pytest.raises(InvalidCron):
        next_at("0 0 1 1 *", datetime(9999, 6, 1, tzinfo=UTC))
    with pytest.raises(InvalidCron):
        next_at("*/5 * 1 1 *", datetime(9999, 6, 1, tzinfo=UTC), "Europe/Paris")


HOSTILE = [
    "*/0 * * * *",
    "*/-1 * * * *",
    "*/99999999999999999999 * * * *",
    "-1 * * * *",
    "1- * * * *",
    "-5 * * * *",
    "5-1 * * * *",
    "1-5-9 * * * *",
    "1/2/3 * * * *",
    "/ * * * *",
    ", * * * *",
    "1,,2 * * * *",
    "," * 120 + " * * * *",
    "1," * 59 + "1 * * * *",
    "0-59," * 19 + "0 * * * *",
    "0-59/1,0-59/2,0-59/3 0-23,0-23 1-31 1-12 0-7",
    "*" * 120 + " * * * *",
    "9" * 110 + " * * * *",
    "00000000000000000000000000000005 * * * *",
    "1.5 * * * *",
    "1e3 * * * *",
    "0x10 * * * *",
    "+5 * * * *",
    "1_0 * * * *",
    "² * * * *",
    "٣ * * * *",
    "１ * * * *",
    "∞ * * * *",
    "🕐 * * * *",
    "\ud800 * * * *",
    "\x00",
    "\x00 * * * *",
    "* * * * *\x00",
    "\u200b* * * * *",
    "\u202e* * * * *",
    "* * * * *; rm -rf /",
    "' OR 1=1 --",
    "$(reboot) * * * *",
    "{{7*7}} * * * *",
    "%s%s%s%s%n * * * *",
    "@",
    "@@daily",
    "@every 5m",
    "@daily * * * *",
    "L * * * *",
    "* * L-3 * *",
    "* * W * *",
    "* * 15W * *",
    "* * LW/2 * *",
    "* * * * L",
    "* * * * 9L",
    "* * * * LL",
    "* * * * MON#0",
    "* * * * MON#6",
    "* * * * MON#",
    "* * * * #5",
    "* * * * 1#5/2",
    "* * * * MON-SUN",
    "* * * * FRI-MON",
    "* * * FOO *",
    "* * * JAN-DEC/5 *",
    "? ? ? ? ?",
    "* * ? * ?",
    "H H * * *",
    "R * * * *",
    "0 0 0 * *",
    "0 0 31 2 *",
    "0 0 31 2,4,6,9,11 *",
    "0 0 */31 * 0#5,1#5,2#5,3#5,4#5,5#5,6#5,7#5,0#4,1#4,2#4,3#4,4#4,5#4,6#4",
    "* * */31 2 MON#5",
    "* */23 29 2 *",
    "59 23 29 2 *",
    "*/59 */23 */30 */11 */6",
    "null",
    "None",
    "true",
    "-",
    "*",
    "* " * 64,
    " " * 128,
    "x" * 10_000,
    "* * * * * " * 10_000,
]


@pytest.mark.parametrize("timezone", ["UTC", "Europe/Paris"])
@pytest.mark.parametrize("expression", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_string_ends_as_an_instant_or_a_named_refusal_in_no_time(
    expression: str, timezone: str
) -> None:
    CRON.next_after("* * * * *", timezone, NOON)  # the zone is read once, and not judged here
    with at_most(AT_MOST):
        answer = instant_or_refusal(expression, timezone)

    if isinstance(answer, InvalidCron):
        assert answer.field == "cron"
        assert len(str(answer)) < 300
    else:
        assert NOON < answer < NOON + 5 * 366 * DAY
        assert answer.tzinfo is UTC


def instant_or_refusal(expression: str, timezone: str) -> datetime | InvalidCron:
    try:
        return CRON.next_after(expression, timezone, NOON)
    except InvalidCron as error:
        return error


# --- Zones ----------------------------------------------------------------------------------

HOSTILE_ZONES = [
    "",
    " ",
    ".",
    "..",
    "/",
    "../../etc/passwd",
    "../../../../../../etc/localtime",
    "/etc/localtime",
    "/usr/share/zoneinfo/Europe/Paris",
    "Europe/../Europe/Paris",
    "Europe/./Paris",
    "Europe//Paris",
    "Europe\\Paris",
    "posix/Europe/Paris",
    "right/Europe/Paris",
    "posixrules",
    "localtime",
    "Europe",
    "Europe/",
    "Europe/Paris/",
    "Europe/Paris ",
    " Europe/Paris",
    "Europe/Paris\n",
    "Europe/Paris\x00",
    "\x00",
    "Europe\x00/Paris",
    "zone.tab",
    "tzdata.zi",
    "__init__",
    "__init__.py",
    "America/__init__.py",
    "zones",
    "utc",
    "+02:00",
    "UTC+2",
    "EST5EDT4,M3.2.0,M11.1.0",
    "Europe/Atlantis",
    "EUROPE/PARIS",
    "Еurope/Paris",
    "\ud800",
    "x" * 10_000,
    "Europe/" * 2_000,
    "A/" * 5_000,
]


@pytest.mark.parametrize("timezone", HOSTILE_ZONES, ids=range(len(HOSTILE_ZONES)))
def test_a_zone_that_is_not_on_the_list_is_refused_by_name_in_no_time(timezone: str) -> None:
    zone_names()
    with at_most(AT_MOST):
        error = refusal("0 3 * * *", timezone)

    assert (error.field, error.value) == ("timezone", timezone)
    assert "like Europe/Paris" in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("europe/paris", "Europe/Paris"),
        ("Europe/Pariss", "Europe/Paris"),
        ("america/new york", "America/New_York"),
        ("Asia/Katmando", "Asia/Kat"),
    ],
)
def test_a_zone_that_is_nearly_right_is_suggested(typed: str, meant: str) -> None:
    assert f"did you mean {meant}" in str(refusal("0 3 * * *", typed))


def test_every_zone_of_the_list_can_be_used() -> None:
    names = zone_names()
    assert {"UTC", "Europe/Paris", "America/Argentina/Buenos_Aires"} <= names
    for name in names:
        assert NOON < next_at("30 3 * * *", NOON, name) <= NOON + 2 * DAY


def test_an_offset_that_is_not_a_whole_hour_is_respected() -> None:
    assert next_at("0 9 * * *", NOON, "Asia/Kathmandu") == datetime(2026, 3, 3, 3, 15, tzinfo=UTC)
    assert next_at("*/30 * * * *", NOON, "Asia/Kathmandu") == NOON + 15 * MINUTE


# --- The gap: a fixed time runs once, right after it ----------------------------------------

# Where clocks went forward in 2024, which no new rule changes any more: the first local minute
# that did not exist, and the one that came instead of it.
GAPS = [
    pytest.param("Europe/Paris", "2024-03-31", "02:00", "03:00", id="Paris"),
    pytest.param("America/New_York", "2024-03-10", "02:00", "03:00", id="New York"),
    pytest.param("Australia/Lord_Howe", "2024-10-06", "02:00", "02:30", id="half an hour"),
    pytest.param("America/Havana", "2024-03-10", "00:00", "01:00", id="at midnight"),
    pytest.param("Pacific/Chatham", "2024-09-29", "02:45", "03:45", id="at a quarter to"),
]


@pytest.mark.parametrize(("timezone", "day", "gap", "after"), GAPS)
def test_a_fixed_time_in_the_gap_runs_once_right_after_it(
    timezone: str, day: str, gap: str, after: str
) -> None:
    end_at = local(timezone, f"{day}T{after}")
    hour, minute = (int(part) for part in gap.split(":"))
    for expression in (f"{minute} {hour} * * *", f"{minute + 10} {hour} * * *"):
        around = list(occurrences(expression, timezone, end_at - 20 * HOUR, end_at + 20 * HOUR))
        assert around == [end_at]


@pytest.mark.parametrize(("timezone", "day", "gap", "after"), GAPS)
def test_several_fixed_times_in_the_gap_still_run_once(
    timezone: str, day: str, gap: str, after: str
) -> None:
    end_at = local(timezone, f"{day}T{after}")
    hour, minute = (int(part) for part in gap.split(":"))
    expression = f"{minute},{minute + 5},{minute + 10} {hour} * * *"
    around = list(occurrences(expression, timezone, end_at - 20 * HOUR, end_at + 20 * HOUR))

    assert around == [end_at]


@pytest.mark.parametrize(("timezone", "day", "gap", "after"), GAPS)
def test_from_anywhere_near_the_gap_the_fixed_time_is_found(
    timezone: str, day: str, gap: str, after: str
) -> None:
    end_at = local(timezone, f"{day}T{after}")
    hour, minute = (int(part) for part in gap.split(":"))
    for minutes_before in range(0, 180, 7):
        before = end_at - minutes_before * MINUTE - TICK
        assert next_at(f"{minute + 10} {hour} * * *", before, timezone) == end_at


# --- The overlap: a fixed time runs once, in the first pass ---------------------------------

# Where clocks went back in 2024: a local time that came twice, and how long until it came again.
OVERLAPS = [
    pytest.param("Europe/Paris", "2024-10-27", "02:30", HOUR, id="Paris"),
    pytest.param("America/New_York", "2024-11-03", "01:30", HOUR, id="New York"),
    pytest.param("Australia/Lord_Howe", "2024-04-07", "01:45", HOUR / 2, id="half an hour"),
    pytest.param("America/Havana", "2024-11-03", "00:30", HOUR, id="at midnight"),
    pytest.param("Pacific/Chatham", "2024-04-07", "03:15", HOUR, id="at a quarter to"),
]


@pytest.mark.parametrize(("timezone", "day", "time", "again"), OVERLAPS)
def test_a_fixed_time_in_the_overlap_runs_once(
    timezone: str, day: str, time: str, again: timedelta
) -> None:
    first = local(timezone, f"{day}T{time}")
    assert local(timezone, f"{day}T{time}", fold=1) == first + again

    hour, minute = (int(part) for part in time.split(":"))
    expression = f"{minute} {hour} * * *"
    around = list(occurrences(expression, timezone, first - 20 * HOUR, first + 20 * HOUR))

    assert around == [first]


@pytest.mark.parametrize(("timezone", "day", "time", "again"), OVERLAPS)
@pytest.mark.parametrize("minutes", ["{}", "0-59", "0,10,20,30,40,50"])
def test_in_the_second_pass_no_instant_of_the_first_is_returned(
    timezone: str, day: str, time: str, again: timedelta, minutes: str
) -> None:
    hour, minute = (int(part) for part in time.split(":"))
    second_pass = local(timezone, f"{day}T{time}", fold=1)
    for offset in range(-29, 30, 4):
        after = second_pass + offset * MINUTE
        occurrence = next_at(f"{minutes.format(minute)} {hour} * * *", after, timezone)
        assert after < occurrence <= after + 26 * HOUR


@pytest.mark.parametrize(("timezone", "day", "time", "again"), OVERLAPS)
def test_every_minute_of_fixed_hours_runs_once_per_local_minute(
    timezone: str, day: str, time: str, again: timedelta
) -> None:
    first = local(timezone, f"{day}T{time}")
    instants = occurrences("0-59 0-23 * * *", timezone, first - 6 * HOUR, first + 6 * HOUR)
    zone = ZoneInfo(timezone)
    clock_faces = [occurrence.astimezone(zone).strftime("%d %H:%M") for occurrence in instants]

    assert len(clock_faces) == len(set(clock_faces)) == 12 * 60 - again // MINUTE


# --- Stars follow elapsed time --------------------------------------------------------------


def wanted(minutes: range, hours: range, zone: tzinfo, first: datetime) -> list[datetime]:
    """Every minute of twelve hours whose clock face matches, found the slow and certain way."""
    instants: list[datetime] = []
    for count in range(1, 12 * 60 + 1):
        at = first + count * MINUTE
        face = at.astimezone(zone)
        if face.minute in minutes and face.hour in hours:
            instants.append(at)
    return instants


STARS = [
    pytest.param("* * * * *", range(60), range(24), id="every minute"),
    pytest.param("*/10 * * * *", range(0, 60, 10), range(24), id="every ten minutes"),
    pytest.param("30 * * * *", range(30, 31), range(24), id="at half past"),
    pytest.param("*/10 2 * * *", range(0, 60, 10), range(2, 3), id="every ten minutes of one hour"),
    pytest.param("*/7 */3 * * *", range(0, 60, 7), range(0, 24, 3), id="sevens of every third"),
    pytest.param("* 3 * * *", range(60), range(3, 4), id="every minute of one hour"),
    pytest.param("5 */2 * * *", range(5, 6), range(0, 24, 2), id="at five past, every two hours"),
    pytest.param("*/15 0 * * *", range(0, 60, 15), range(1), id="quarters after midnight"),
]
CHANGES = [
    pytest.param("Europe/Paris", "2024-03-31T01:00", id="Paris, gap"),
    pytest.param("Europe/Paris", "2024-10-27T01:00", id="Paris, overlap"),
    pytest.param("America/New_York", "2024-11-03T06:00", id="New York, overlap"),
    pytest.param("Australia/Lord_Howe", "2024-10-05T15:30", id="Lord Howe, gap"),
    pytest.param("Australia/Lord_Howe", "2024-04-06T15:00", id="Lord Howe, overlap"),
    pytest.param("America/Havana", "2024-03-10T05:00", id="Havana, gap"),
    pytest.param("America/Havana", "2024-11-03T05:00", id="Havana, overlap"),
    pytest.param("Pacific/Chatham", "2024-09-28T14:00", id="Chatham, gap"),
    pytest.param("Pacific/Chatham", "2024-04-06T14:00", id="Chatham, overlap"),
    pytest.param("Asia/Kathmandu", "2024-04-06T14:00", id="Kathmandu, no change"),
]


@pytest.mark.parametrize(("timezone", "change"), CHANGES)
@pytest.mark.parametrize(("expression", "minutes", "hours"), STARS)
def test_an_expression_with_a_star_follows_elapsed_time(
    expression: str, minutes: range, hours: range, timezone: str, change: str
) -> None:
    after = datetime.fromisoformat(change).replace(tzinfo=UTC) - 6 * HOUR
    instants = list(occurrences(expression, timezone, after, after + 12 * HOUR))

    assert instants == wanted(minutes, hours, ZoneInfo(timezone), after)


def test_a_star_in_the_overlap_runs_in_both_passes() -> None:
    after = local("Europe/Paris", "2024-10-27T01:45")
    instants = occurrences("*/30 * * * *", "Europe/Paris", after, after + 3 * HOUR)

    assert local_times(instants, "Europe/Paris") == [
        "27 02:00 +0200",
        "27 02:30 +0200",
        "27 02:00 +0100",
        "27 02:30 +0100",
        "27 03:00 +0100",
        "27 03:30 +0100",
    ]


def test_a_star_far_away_is_found_across_several_changes() -> None:
    after = local("Europe/Paris", "2024-03-01T12:00")

    assert next_at("*/5 9 29 2 *", after, "Europe/Paris") == local(
        "Europe/Paris", "2028-02-29T09:00"
    )
    assert next_at("*/5 9 1 7 *", after, "Europe/Paris") == local(
        "Europe/Paris", "2024-07-01T09:00"
    )


# --- What always holds ----------------------------------------------------------------------

ZONES = ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "America/Havana"]


def fields(least: int, most: int) -> st.SearchStrategy[str]:
    numbers = st.integers(least, most)
    # Not from a number to itself: the other library reads that as a whole round.
    pairs = st.lists(numbers, min_size=2, max_size=2, unique=True)
    ranges = pairs.map(lambda pair: f"{min(pair)}-{max(pair)}")
    return st.one_of(
        st.just("*"),
        st.just("*"),
        numbers.map(str),
        st.lists(numbers, min_size=2, max_size=4).map(lambda each: ",".join(map(str, each))),
        ranges,
        st.integers(2, most).map("*/{}".format),
    )


INSTANTS = st.datetimes(datetime(2026, 1, 1), datetime(2030, 12, 31)).map(  # noqa: DTZ001
    lambda each: each.replace(tzinfo=UTC)
)
TIMES = st.builds("{} {}".format, fields(0, 59), fields(0, 23))
# Where both days are given, cron libraries differ on whether a step counts as a star.
DAYS = st.one_of(
    st.builds("{} {} *".format, fields(1, 28), fields(1, 12)),
    st.builds("* {} {}".format, fields(1, 12), fields(0, 6)),
)
EXPRESSIONS = st.builds("{} {}".format, TIMES, DAYS)


@given(EXPRESSIONS, INSTANTS, st.sampled_from(["UTC", *ZONES]))
@repeatable
def test_an_occurrence_is_always_strictly_after_and_on_the_minute(
    expression: str, after: datetime, timezone: str
) -> None:
    occurrence = next_at(expression, after, timezone)

    assert occurrence > after
    assert (occurrence.second, occurrence.microsecond) == (0, 0)


@given(EXPRESSIONS, INSTANTS)
@repeatable
def test_in_utc_another_library_finds_the_same(expression: str, after: datetime) -> None:
    oracle = croniter(expression, after, ret_type=datetime)

    assert next_at(expression, after) == oracle.get_next()


@given(TIMES, st.sampled_from(ZONES), INSTANTS)
@repeatable
def test_nothing_lies_between_an_instant_and_its_next_occurrence(
    times: str, timezone: str, after: datetime
) -> None:
    expression = f"{times} * * *"
    occurrence = next_at(expression, after, timezone)
    between = after + (occurrence - after) / 2

    assert next_at(expression, between, timezone) == occurrence
    assert next_at(expression, occurrence - TICK, timezone) == occurrence


WALKED = [*ZONES, "Pacific/Chatham"]
NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)


def strictly_increase(instants: list[datetime]) -> bool:
    return all(earlier < later for earlier, later in pairwise(instants))


@pytest.mark.parametrize("timezone", WALKED)
@pytest.mark.parametrize(
    ("expression", "least"),
    [("30 2 * * *", 366), ("0 */3 * * *", 366 * 8 - 1), ("*/30 0-23/4 * * *", 366 * 12 - 2)],
    ids=["nightly", "a star of hours", "a star of minutes"],
)
def test_a_year_of_occurrences_strictly_increases(
    expression: str, least: int, timezone: str
) -> None:
    year = list(occurrences(expression, timezone, NEW_YEAR, NEW_YEAR + 366 * DAY))

    assert strictly_increase(year)
    assert least <= len(year) <= least + 4


@pytest.mark.parametrize("timezone", WALKED)
@pytest.mark.parametrize("day", [89, 95, 97, 273, 279, 300, 307])
def test_the_days_around_a_change_strictly_increase_minute_by_minute(
    timezone: str, day: int
) -> None:
    start_at = NEW_YEAR + day * DAY
    instants = list(occurrences("0-59/5 0-23 * * *", timezone, start_at, start_at + 3 * DAY))

    assert strictly_increase(instants)
    assert 3 * 288 - 12 <= len(instants) <= 3 * 288 + 12
