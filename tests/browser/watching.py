"""A person at a browser, with somebody who watches: console, policy, and where requests go."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.web.furniture import furnish
from tests.web.support import ADMIN, Listening, Scope

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 380, "height": 800}
PATIENCE_MS = 60_000  # a busy machine takes its time
COUNT_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(
    `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""


@dataclass(frozen=True, slots=True)
class World:
    server: Listening

    def done(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """By the API, as somebody else would."""
        return self.server.wait_for(self.server.site.ours.done(method, path, body, **more))

    def furnish(self) -> dict[str, str]:
        site = self.server.site
        self.server.wait_for(furnish(site, site.ours))
        return site.ours.ids

    def endpoint(self, name: str = "orders", **fields: Any) -> dict[str, Any]:
        return self.server.wait_for(self.server.site.ours.endpoint(None, name, **fields))

    def run(self, endpoint: dict[str, Any], *outcome: Any) -> None:
        self.done("POST", f"/endpoints/{endpoint['id']}/run")
        assert self.server.wait_for(self.server.site.backend.run_due(*outcome)) >= 1

    def watchers(self) -> int:
        """How many streams are open."""
        return self.server.site.app.state.dependencies.around.streams.open_count

    def key(self, scope: Scope = ADMIN) -> str:
        return self.server.site.ours.keys[scope]


def world_of(server: Listening) -> World:
    return World(server)


@dataclass(slots=True)
class Person:
    world: World
    context: BrowserContext
    page: Page
    messages: list[str] = field(default_factory=list[str])
    hosts: set[str] = field(default_factory=set[str])

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.world.server.url}{path}")
        return self.page

    def tab(self, path: str) -> Page:
        """Another one of the same browser."""
        page = self.context.new_page()
        self._watch(page)
        page.goto(f"{self.world.server.url}{path}")
        return page

    def sign_in(self, scope: Scope = ADMIN, key: str | None = None) -> None:
        page = self.go("/sign-in")
        page.fill("#f-key", key or self.world.key(scope))
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.world.server.url}/")

    def path(self) -> str:
        return urlsplit(self.page.url).path

    def wait_until_live(self, page: Page | None = None) -> None:
        (page or self.page).locator("#live[data-state=live]").wait_for()

    def violations(self) -> list[str]:
        return [text for page in self.context.pages for text in page.evaluate("window.violations")]

    def wait_for_streams(self, count: int) -> None:
        """Until the server has so many; one that a page let go of ends a moment later."""
        for _ in range(200):
            if self.world.watchers() == count:
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{self.world.watchers()} streams, not {count}")

    def check_nothing_went_wrong(self) -> None:
        assert self.violations() == []
        assert self.messages == []
        assert self.hosts <= {f"127.0.0.1:{self.world.server.port}"}

    def _watch(self, page: Page) -> None:
        def on_console(message: ConsoleMessage) -> None:
            self.messages.append(f"{page.url}: {message.text}")

        def on_request(request: Request) -> None:
            self.hosts.add(urlsplit(request.url).netloc)

        page.on("console", on_console)
        page.on("pageerror", lambda error: self.messages.append(f"{page.url}: {error}"))
        page.on("request", on_request)


@contextmanager
def person_of(world: World, browser: Browser, **options: Any) -> Iterator[Person]:
    defaults = {"viewport": WIDE, "timezone_id": "Europe/Berlin", "locale": "en-GB"}
    context = browser.new_context(**{**defaults, **options})
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(COUNT_VIOLATIONS)
    page = context.new_page()
    person = Person(world, context, page)
    person._watch(page)
    try:
        yield person
    finally:
        context.close()
