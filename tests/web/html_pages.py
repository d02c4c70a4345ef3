"""A browser without a screen: it keeps cookies, follows redirects, and sends the forms it sees."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from tests.web.support import House, Scope, Site

ADMIN = Scope.ADMIN


@dataclass(slots=True)
class Sheet:
    """A form of a page: where it goes, and the fields that it has with their values."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict[str, str])
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Sheet] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._form: Sheet | None = None
        self._area: str | None = None
        self._select: str | None = None
        self._takes_text = False  # of an option whose text is its value
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "a":
            self.links.append(attributes.get("href") or "")
        if tag in ("script", "style"):
            self._silent += 1
        if tag == "form":
            action = attributes.get("action") or ""
            self._form = Sheet(action, (attributes.get("method") or "get").lower())
            self.forms.append(self._form)
        if self._form is not None:
            self._take_field(self._form, tag, attributes)

    def _take_field(self, form: Sheet, tag: str, attributes: dict[str, str | None]) -> None:
        name = attributes.get("name") or ""
        if tag == "input" and name:
            is_choice = attributes.get("type") in ("radio", "checkbox")
            if not is_choice or "checked" in attributes:
                form.fields[name] = attributes.get("value") or ""
        elif tag == "select":
            self._select = name
        elif tag == "textarea":
            self._area = name
            form.fields[name] = ""
        elif tag == "option" and self._select is not None:
            is_chosen = self._select not in form.fields or "selected" in attributes
            value = attributes.get("value")
            if is_chosen and value is not None:
                form.fields[self._select] = value
            self._takes_text = is_chosen and value is None

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        if tag == "textarea":
            self._area = None
        if tag == "select":
            self._select = None
        if tag in ("script", "style"):
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._form is not None and self._area is not None:
            self._form.fields[self._area] += data.removeprefix("\n")
        if self._form is not None and self._select is not None and self._takes_text:
            self._form.fields[self._select] = data.strip()
            self._takes_text = False
        self.texts.append(data)
        if self._form is not None:
            self._form.text += data


@dataclass(slots=True)
class Seen:
    """A page as it was answered."""

    answer: httpx.Response

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def path(self) -> str:
        return urlsplit(str(self.answer.url)).path

    @property
    def html(self) -> str:
        return self.answer.text

    def _read(self) -> _Reader:
        reader = _Reader()
        reader.feed(self.html)
        return reader

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._read().texts).split())

    @property
    def links(self) -> list[str]:
        return self._read().links

    @property
    def tags(self) -> list[tuple[str, dict[str, str | None]]]:
        return self._read().tags

    @property
    def forms(self) -> list[Sheet]:
        return self._read().forms

    def form(self, action: str = "") -> Sheet:
        """The one that goes there; without an action, the one that goes to its own page."""
        matches = [form for form in self.forms if form.method == "post" and form.action == action]
        assert matches, f"no form to {action!r} on {self.path}: {[f.action for f in self.forms]}"
        return matches[0]


@dataclass(slots=True)
class Browser:
    client: httpx.AsyncClient

    async def open(self, path: str, **more: Any) -> Seen:
        return Seen(await self.client.get(path, **more))

    async def send(self, page: Seen, action: str = "", **fields: str) -> Seen:
        """A form of a page, with these fields changed."""
        form = page.form(action)
        path = form.action or page.path
        return await self.post(path, {**form.fields, **fields})

    async def post(self, path: str, fields: dict[str, str], **more: Any) -> Seen:
        return Seen(await self.client.post(path, data=fields, **more))

    async def sign_in(self, key: str) -> Seen:
        return await self.send(await self.open("/sign-in"), "/sign-in", key=key)


def browser(site: Site) -> Browser:
    transport = httpx.ASGITransport(app=site.app)
    return Browser(
        httpx.AsyncClient(transport=transport, base_url="http://cadenza", follow_redirects=True)
    )


async def signed_in(site: Site, house: House, scope: Scope = ADMIN) -> Browser:
    visitor = browser(site)
    page = await visitor.sign_in(house.keys[scope])
    assert page.status == 200, page.text
    return visitor
