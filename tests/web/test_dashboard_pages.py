"""Every page of the dashboard: with data, empty, for a key that may only read, and for hostile
text."""

from typing import Any

import pytest

from cadenza.web.dashboard.policy import POLICY
from tests.factories import FAILED
from tests.web.furniture import MARK, SECRET, furnish
from tests.web.graph_schedules import create_schedule, end_run, open_account, start_run
from tests.web.html_pages import browser, signed_in
from tests.web.support import OPERATE, READ, House, Site

EMPTY_PAGES = {
    "/": "Create your first job",
    "/jobs": "No jobs yet",
    "/jobs/endpoints": "No endpoints yet",
    "/runs": "No runs yet",
    "/planner": "No open suggestions",
    "/graphs": "No schedules yet",
    "/graphs/grants": "No grants yet",
    "/graphs/accounts": "No accounts yet",
    "/activity": "No events yet",
    "/activity/incidents": "No open incidents",
    "/settings": "No signing keys yet",
    "/settings/notifications": "No channels yet",
    "/settings/notifications/deliveries": "Nothing sent yet",
    "/search": "Search by part of a name",
}
HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"{{ 733 * 7 }}'


def _pages(house: House) -> list[str]:
    ids = house.ids
    schedule = f"/graphs/schedules/{ids['schedules']}"
    return [
        *EMPTY_PAGES,
        f"/search?q={MARK}",
        f"/jobs/{ids['jobs']}",
        f"/endpoints/{ids['endpoints']}",
        f"/runs/{ids['runs']}",
        f"/planner/{ids['sessions']}",
        schedule,
        f"{schedule}/runs/{ids['schedule_run_id']}",
        f"/graphs/grants/{ids['grants']}",
        f"/graphs/accounts/{ids['accounts']}",
    ]


def _forms(house: House) -> list[str]:
    ids = house.ids
    endpoint = f"/endpoints/{ids['endpoints']}"
    return [
        "/jobs/new",
        f"/jobs/{ids['jobs']}/edit",
        f"/jobs/{ids['jobs']}/endpoints/new",
        f"{endpoint}/edit",
        f"{endpoint}/hint",
        f"{endpoint}/pause-until",
    ]


async def test_every_page_shows_what_there_is(site: Site) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    for path in [*_pages(site.ours), *_forms(site.ours)]:
        page = await visitor.open(path)
        assert page.status == 200, f"{path}: {page.text}"
        assert page.answer.headers["content-security-policy"] == POLICY
        assert SECRET not in page.html, path
    for path in ("/", "/jobs", "/runs", "/planner", "/graphs", f"/search?q={MARK}"):
        assert MARK in (await visitor.open(path)).text, path


@pytest.mark.parametrize("path", EMPTY_PAGES)
async def test_a_page_with_nothing_on_it_says_so(site: Site, path: str) -> None:
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(path)
    assert page.status == 200
    assert EMPTY_PAGES[path] in page.text


async def test_a_key_that_may_only_read_sees_no_button_that_would_fail(site: Site) -> None:
    await furnish(site, site.ours)
    reader = await signed_in(site, site.ours, READ)
    for path in _pages(site.ours):
        page = await reader.open(path)
        assert page.status == 200, path
        actions = {form.action for form in page.forms if form.method == "post"}
        assert actions <= {"/sign-out", "/sign-out-everywhere"}, path
        assert not [link for link in page.links if link.endswith(("/new", "/edit", "/hint"))], path
    for path in _forms(site.ours):
        assert (await reader.open(path)).status == 403, path


async def test_every_form_that_is_shown_works_for_who_sees_it(site: Site) -> None:
    """Else a page offers what fails: each button is pressed once, archiving last."""
    await furnish(site, site.ours)
    operator = await signed_in(site, site.ours, OPERATE)
    pages = [await operator.open(path) for path in _pages(site.ours)]
    forms = {form.action: form for page in pages for form in page.forms if form.method == "post"}
    for action, form in sorted(
        forms.items(), key=lambda item: item[0].endswith(("archive", "delete"))
    ):
        if not action.startswith("/sign-out"):
            page = await operator.post(action, form.fields)
            assert page.status == 200, f"{action}: {page.status} {page.text}"
    assert len(forms) > 12


async def test_what_is_another_tenants_is_no_page(site: Site) -> None:
    await furnish(site, site.ours)
    stranger = await signed_in(site, site.theirs)
    for path in [*_pages(site.ours), *_forms(site.ours)]:
        page = await stranger.open(path)
        has_ids = any(value in path for value in site.ours.ids.values())
        assert page.status == (404 if has_ids else 200), path
        # The search page repeats what was asked for.
        assert MARK not in page.text.replace(f"“{MARK}”", ""), path


async def test_hostile_text_is_inert_wherever_it_is_shown(site: Site) -> None:
    house = site.ours
    job = await house.job(HOSTILE.replace("/", "")[:90], description=HOSTILE)
    endpoint = await house.endpoint(
        job, HOSTILE.replace("/", "")[:90], url="https://shop.example/?" + "%3Cscript%3E"
    )
    path = f"/endpoints/{endpoint['id']}"
    hint = {"interval": "2m", "reason": HOSTILE}
    await house.done("POST", f"{path}/hints/interval", hint)
    await house.done("POST", f"{path}/pause", {"reason": HOSTILE})
    await house.done("POST", "/keys", {"name": HOSTILE.replace("/", "")[:90], "scopes": ["read"]})
    await house.done("POST", f"{path}/run")
    body = type(FAILED)(FAILED.status, HOSTILE, HOSTILE, status_code=500, body={HOSTILE: HOSTILE})
    assert await site.backend.run_due(body) == 1
    run_id = (await house.done("GET", "/runs"))["items"][0]["id"]
    visitor = await signed_in(site, house)
    for address in (
        "/", "/jobs", "/endpoints", "/runs", "/settings", "/activity", "/search?q=<script>",
        f"/jobs/{job['id']}", f"/jobs/{job['id']}/edit", path, f"{path}/edit", f"/runs/{run_id}",
    ):  # fmt: skip
        page = await visitor.open(address)
        assert page.status == 200, address
        tags = page.tags
        scripts = [attributes for tag, attributes in tags if tag == "script"]
        assert all("src" in attributes for attributes in scripts), address
        assert not [tag for tag, _ in tags if tag == "img"], address
        handlers = [name for _, attributes in tags for name in attributes if name.startswith("on")]
        assert not handlers, address
        assert "5131" not in page.text, address


async def test_no_page_has_a_script_or_a_style_inside(site: Site) -> None:
    await furnish(site, site.ours)
    visitor = await signed_in(site, site.ours)
    for path in [*_pages(site.ours), *_forms(site.ours)]:
        for tag, attributes in (await visitor.open(path)).tags:
            assert tag != "style", path
            assert "style" not in attributes, path
            assert tag != "script" or "src" in attributes, path


async def test_an_address_that_is_wrong_says_what_would_be_right(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    cases: dict[str, tuple[int, str]] = {
        "/endpoints?state=tired": (422, "one of active"),
        "/runs?range=1y": (422, "one of 1h"),
        "/runs?endpoint=7": (422, "an id"),
        "/runs?cursor=nonsense": (422, "leave it out"),
        "/runs/7": (404, "Page not found"),
        "/nowhere": (404, "Page not found"),
        f"/jobs/{'0' * 8}-0000-0000-0000-{'0' * 12}": (404, "There is no such thing"),
    }
    for path, (status, words) in cases.items():
        page = await visitor.open(path)
        assert (page.status, words in page.text) == (status, True), f"{path}: {page.text}"


async def test_what_a_graph_said_word_by_word_is_read_as_one(site: Site) -> None:
    account_id = await open_account(site.ours)
    schedule = await create_schedule(site.ours, account_id=account_id)
    claim = await start_run(site, site.ours, schedule)
    await end_run(site.backend, claim, events=1, words=["to be", " or", " not to be"])
    visitor = await signed_in(site, site.ours)
    page = await visitor.open(f"/graphs/schedules/{schedule['id']}/runs/{claim.run_id}")
    assert "to be or not to be" in page.text
    assert page.text.count("text_delta") == 1


async def test_lists_come_in_pages(site: Site) -> None:
    for number in range(52):
        await site.ours.job(f"job {number:02}")
    visitor = await signed_in(site, site.ours)
    first = await visitor.open("/jobs")
    assert "job 49" in first.text
    assert "job 50" not in first.text
    (more,) = [link for link in first.links if "cursor=" in link]
    second = await visitor.open(more)
    assert "job 51" in second.text
    assert "job 49" not in second.text


async def test_times_are_shown_in_the_zone_of_the_browser(site: Site) -> None:
    await site.ours.endpoint(cron="0 9 * * *", timezone="Asia/Tokyo")
    visitor = await signed_in(site, site.ours)
    endpoint: dict[str, Any] = (await site.ours.done("GET", "/endpoints"))["items"][0]
    path = f"/endpoints/{endpoint['id']}"
    assert "00:00:00 UTC" in (await visitor.open(path)).text
    assert "09:00:00 JST" in (await visitor.open(path)).text  # beside it, for its cron is there
    visitor.client.cookies.set("cadenza_zone", "America%2FNew_York")
    assert "All times are in your time zone, America/New_York" in (await visitor.open(path)).text
    visitor.client.cookies.set("cadenza_zone", "../../etc/passwd")
    assert "All times are in your time zone, UTC" in (await visitor.open(path)).text


async def test_the_icon_tells_that_something_fails(site: Site) -> None:
    endpoint = await site.ours.endpoint()
    visitor = await signed_in(site, site.ours)
    assert _icon(await visitor.open("/")).endswith("/icon.svg")
    await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
    await site.backend.run_due(FAILED)
    page = await visitor.open("/")
    assert _icon(page).endswith("/icon-failing.svg")
    assert "Failing 1" in page.text


def _icon(page: Any) -> str:
    return next(str(tag[1]["href"]) for tag in page.tags if tag[1].get("rel") == "icon")


async def test_the_sign_in_page_needs_nothing_but_a_key(site: Site) -> None:
    page = await browser(site).open("/")
    assert page.path == "/sign-in"
    assert page.answer.headers["content-security-policy"] == POLICY
