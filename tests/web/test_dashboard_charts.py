"""Charts and strips: what they show is told in words, in the page itself."""

from datetime import UTC, datetime

from cadenza.application.ports.activity import Activity, ActivityBucket
from cadenza.domain.family import Family
from cadenza.web.dashboard.charts import strip_of
from tests.factories import FAILED, minutes
from tests.web.html_pages import signed_in
from tests.web.support import Site

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_strip_says_in_words_what_it_shows() -> None:
    assert strip_of(None, BEGIN).words == "Nothing ran in the last hour"
    calm = ActivityBucket(BEGIN, {Family.BASELINE: 1}, 0, 0)
    assert strip_of(Activity([calm]), BEGIN).words == "1 run in the last hour, all fine"
    busy = ActivityBucket(BEGIN + minutes(7), {Family.TIGHTENED: 3, Family.ONCE: 1}, 1, 1)
    strip = strip_of(Activity([calm, busy]), BEGIN)
    assert strip.words == "5 runs in the last hour, 2 failed"
    assert strip.failed == [7]


def test_the_parts_of_a_minute_stand_on_each_other_within_the_strip() -> None:
    busy = ActivityBucket(BEGIN, {Family.TIGHTENED: 3, Family.ONCE: 1}, 0, 0)
    low, high = strip_of(Activity([busy]), BEGIN).bars
    assert (low.token, high.token) == ("tight", "once")
    assert (low.y + low.height, high.y + high.height) == (16.0, low.y)
    assert low.height == 3 * high.height
    assert high.y >= 0


async def test_pages_have_their_charts_with_a_table(site: Site) -> None:
    endpoint = await site.ours.endpoint(None, "orders")
    await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
    await site.backend.run_due(FAILED)
    person = await signed_in(site, site.ours)
    overview = (await person.open("/")).html
    assert 'aria-label="1 run in the last hour, 1 failed"' in overview
    assert '<th scope="col" class="num" data-token="hand" data-kind="bar">By hand</th>' in overview
    assert 'aria-label="1 run in the last hour, 1 failed"' in (await person.open("/jobs")).html
    own = (await person.open(f"/endpoints/{endpoint['id']}")).html
    assert "Duration and lateness" in own
    assert "Duration, 95th percentile" in own


async def test_before_the_first_run_there_is_no_chart(site: Site) -> None:
    endpoint = await site.ours.endpoint(None, "orders")
    person = await signed_in(site, site.ours)
    for path in ("/", f"/endpoints/{endpoint['id']}"):
        assert "<figure" not in (await person.open(path)).html
    assert 'aria-label="Nothing ran in the last hour"' in (await person.open("/jobs")).html
