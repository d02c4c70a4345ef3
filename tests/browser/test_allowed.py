"""Nobody sees a button that would fail: with a key that only reads, or with roles for single
jobs."""

from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from cadenza.domain.people import Role
from tests.browser.test_pages import pages_of
from tests.browser.watching import World, person_of
from tests.web.support import OPERATE, READ
from tests.web.test_job_limits import limited

FORMS = (
    "[...document.forms].filter((f) => f.method === 'post').map((f) => f.getAttribute('action'))"
)
LINKS = "[...document.querySelectorAll('a[href^=\"/\"]')].map((a) => a.getAttribute('href'))"
OWN = {"/sign-out", "/sign-out-everywhere"}  # everybody's


def _forms_on(page: Page) -> set[str]:
    return set(page.evaluate(FORMS)) - OWN


def test_who_may_only_read_has_nothing_to_press(world: World, chromium: Browser) -> None:
    ids = world.furnish()
    with person_of(world, chromium) as person:
        person.sign_in(READ)
        links = set[str]()
        for path in pages_of(ids):
            page = person.go(path)
            assert _forms_on(page) == set(), path
            links |= {urlsplit(link).path for link in page.evaluate(LINKS)}
        person.messages.clear()  # the pages of forms were refused, as they should be
        for link in sorted(links - {"/docs/"}):
            response = person.context.request.get(f"{world.server.url}{link}")
            assert response.status == 200, link


def test_who_operates_one_job_sees_no_button_of_another(world: World, chromium: Browser) -> None:
    mine, other = world.endpoint("mine"), world.endpoint("other")
    site = world.server.site
    roles = {mine["job_id"]: Role.OPERATOR, other["job_id"]: Role.VIEWER}
    eve = world.server.wait_for(limited(site, site.ours, **roles))
    for endpoint in (mine, other):
        hint = {"interval": "1m", "reason": "busy"}
        world.done("POST", f"/endpoints/{endpoint['id']}/hints/interval", hint)
    with person_of(world, chromium) as person:
        person.sign_in(key=eve.keys[OPERATE])
        pressed, links = set[str](), set[str]()
        for path in (
            "/", "/jobs", "/jobs/endpoints", "/runs", "/planner", "/graphs", "/activity",
            "/activity/incidents", "/settings", f"/jobs/{mine['job_id']}",
            f"/jobs/{other['job_id']}", f"/endpoints/{mine['id']}", f"/endpoints/{other['id']}",
            f"/jobs/{other['job_id']}/yaml",
        ):  # fmt: skip
            page = person.go(path)
            pressed |= _forms_on(page)
            links |= {urlsplit(link).path for link in page.evaluate(LINKS)}
            assert page.locator(f"#pick-{other['id']}").count() == 0
        assert f"/endpoints/{mine['id']}/pause" in pressed
        assert not [path for path in pressed if other["id"] in path or other["job_id"] in path]
        assert "/jobs/new" not in links
        for link in sorted(links - {"/docs/"}):
            response = person.context.request.get(f"{world.server.url}{link}")
            assert response.status == 200, link
        page = person.go(f"/endpoints/{mine['id']}")
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("button", name="Resume").wait_for()
        person.check_nothing_went_wrong()
