"""Signing in at a real OpenID provider, in a real browser, from another site and back."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from pydantic import SecretStr

from tests.backends import MEMORY, new_backend
from tests.browser.watching import Person, World, person_of, world_of
from tests.oidc.running import SECRET, running_provider
from tests.web.support import listening_over

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider() as issuer:
        yield issuer


@pytest.fixture
def provided(issuer: str) -> Iterator[World]:
    settings = {
        "oidc_issuer": issuer,
        "oidc_client_id": "cadenza",
        "oidc_client_secret": SecretStr(SECRET),
        "oidc_groups": "admins=owner",
        "oidc_domains": "ours.example=ours",
    }
    with listening_over(lambda: new_backend(MEMORY), **settings) as server:
        yield world_of(server)


@pytest.fixture
def guest(provided: World, chromium: Browser) -> Iterator[Person]:
    with person_of(provided, chromium) as person:
        yield person
        assert person.violations() == []


def vouch(page: Page, name: str) -> None:
    """At the provider: who one is, and that it may be told."""
    page.fill("input[name=login]", name)
    page.fill("input[name=password]", "whatever")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_who_was_invited_joins_at_the_provider_and_comes_back_without_a_link(
    provided: World, guest: Person
) -> None:
    job = provided.done("POST", "/jobs", {"name": "shop"})
    provided.done("POST", "/jobs", {"name": "hidden"})
    roles = [{"job_id": job["id"], "role": "operator"}]
    body = {"email": "eve@example.org", "jobs": roles}
    link = provided.done("POST", "/invitations", body)["path"]
    page = guest.go(link)
    page.get_by_role("link", name="Sign in with localhost and join").click()
    vouch(page, "eve@example.org")
    page.wait_for_url(f"{provided.server.url}/")
    page = guest.go("/jobs")
    text = page.locator("main").inner_text()
    assert "shop" in text
    assert "hidden" not in text
    guest.context.clear_cookies(domain="127.0.0.1")
    page = guest.go("/jobs")
    page.get_by_role("link", name="Sign in with localhost").click()
    page.wait_for_url(f"{provided.server.url}/jobs")  # the provider still knows who it is
    (eve,) = [row for row in provided.done("GET", "/people")["items"] if row["uses_provider"]]
    assert eve["name"] == "eve@example.org"
    provided.done("DELETE", f"/people/{eve['id']}")
    guest.go("/jobs")
    assert guest.path() == "/sign-in"


def test_an_invitation_of_somebody_else_is_not_taken(provided: World, guest: Person) -> None:
    body = {"email": "eve@example.org", "role": "owner"}
    invitation = provided.done("POST", "/invitations", body)
    page = guest.go(invitation["path"])
    page.get_by_role("link", name="Sign in with").click()
    vouch(page, "mallory@example.org")
    page.get_by_text("for another address").wait_for()
    (row,) = provided.done("GET", "/invitations")["items"]
    assert row["accepted_at"] is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nobody@example.org", "nobody here has your address"),
        ("unverified@ours.example", "has not verified your mail address"),
    ],
)
def test_whom_nobody_knows_is_not_let_in(guest: Person, name: str, said: str) -> None:
    page = guest.go("/sign-in/provider")
    vouch(page, name)
    page.get_by_text(said).wait_for()
    guest.go("/")
    assert guest.path() == "/sign-in"


def test_a_domain_lets_its_people_in_and_a_group_gives_the_role(
    provided: World, guest: Person
) -> None:
    page = guest.go("/sign-in/provider?next=/settings/people")
    vouch(page, "admin@ours.example")
    page.wait_for_url(f"{provided.server.url}/settings/people")
    assert "admin@ours.example" in page.locator("main").inner_text()


def test_the_way_on_stays_on_this_site(provided: World, guest: Person) -> None:
    page = guest.go("/sign-in/provider?next=https://evil.example/")
    vouch(page, "ann@ours.example")
    page.wait_for_url(f"{provided.server.url}/")


def test_a_way_back_that_another_browser_began_leads_nowhere(
    provided: World, guest: Person
) -> None:
    page = guest.go("/sign-in/provider/back?code=x&state=y")
    page.get_by_text("was not started in this browser").wait_for()
    guest.go("/sign-in/provider")
    page = guest.go("/sign-in/provider/back?code=x&state=forged")
    page.get_by_text("was not started in this browser").wait_for()


def test_a_provider_that_is_away_leaves_the_key(chromium: Browser) -> None:
    settings = {"oidc_issuer": "http://127.0.0.1:9", "oidc_client_id": "cadenza"}
    with listening_over(lambda: new_backend(MEMORY), **settings) as server:
        world = world_of(server)
        with person_of(world, chromium) as person:
            page = person.go("/sign-in")
            page.get_by_role("link", name="Sign in with").click()
            page.get_by_text("cannot be reached").wait_for()
            person.sign_in()
