"""An owner invites somebody, gives and takes roles; and names that would like to do something."""

import pytest
from playwright.sync_api import Browser, expect

from cadenza.domain.access import User
from tests.browser.watching import PHONE, Person, World, person_of

XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


@pytest.mark.slow
def test_somebody_is_invited_joins_operates_and_is_removed(
    world: World, person: Person, chromium: Browser
) -> None:
    page = person.go("/settings")
    page.get_by_role("link", name="Manage roles and invitations").click()
    page.get_by_label("Email address").fill("not an address")
    page.get_by_role("button", name="Create invitation").click()
    page.get_by_text("an address like ada@example.org").first.wait_for()
    person.messages.clear()  # a browser tells its console of every 422
    page.get_by_label("Email address").fill("eve@example.org")
    page.get_by_label("Role", exact=True).select_option("operator")
    page.get_by_role("button", name="Create invitation").click()
    link = page.get_by_text("/join/").first.inner_text().strip()
    with person_of(world, chromium) as eve:
        eve.page.goto(link)
        eve.page.reload()  # looking at it does not use it up
        eve.page.get_by_role("button", name="Join").click()
        eve.page.wait_for_url(f"{world.server.url}/")
        eve.go("/jobs/new")
        assert eve.path() == "/jobs/new"
        eve.go("/settings/people")
        assert "scope admin" in eve.page.locator("main").inner_text()
        row = page.locator("tr", has_text="eve@example.org")
        person.go("/settings/people")
        row.get_by_text("Role…").click()
        row.locator("select[name=role]").select_option("viewer")
        row.get_by_role("button", name="Change").click()
        page.get_by_text("Role of eve@example.org changed").wait_for()
        eve.go("/jobs/new")
        assert "scope operate" in eve.page.locator("main").inner_text()
        eve.go("/jobs")
        eve.wait_until_live()
        eve.wait_for_streams(2)
        row.get_by_text("Remove…").click()
        row.get_by_role("button", name="Remove eve@example.org").click()
        page.get_by_text("eve@example.org removed.").wait_for()
        eve.wait_for_streams(1)  # the one that they had open has ended
        eve.go("/jobs")
        assert eve.path() == "/sign-in"


def test_names_are_shown_as_they_are_and_do_nothing(world: World, person: Person) -> None:
    site = world.server.site
    now = world.server.wait_for(site.now())

    async def add() -> None:
        async with site.backend.store.transaction() as tx:
            await tx.insert_user(User(site.ours.tenant_id, site.ours.tenant_id, XSS, now))

    world.server.wait_for(add())
    page = person.go("/settings/people")
    expect(page.locator("td .name", has_text=XSS)).to_have_count(1)
    person.page.set_viewport_size(PHONE)
    person.go("/settings/people")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
