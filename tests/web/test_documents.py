"""/docs without a browser: who may read, what is found, and where a problem's type leads."""

import asyncio
import threading
from pathlib import Path

import pytest

from cadenza.web.dashboard.policy import POLICY
from cadenza.web.docs.lazy import Lazy
from cadenza.web.docs.site import BuiltSite, policy_for
from cadenza.web.docs.source import SourcePages
from tests.web.html_pages import browser
from tests.web.support import Site

PAGE = '<h1>Hello</h1><script>a=1</script><script id="x" type="application/json">{}</script>'


@pytest.fixture
def built(site: Site, tmp_path: Path) -> Site:
    (tmp_path / "how-to").mkdir()
    for path in ("index.html", "how-to/index.html"):
        (tmp_path / path).write_text(PAGE)
    (tmp_path / "secret.key").write_text("no page")
    site.app.state.documentation.site = Lazy(lambda: BuiltSite(tmp_path))
    return site


@pytest.fixture
def unbuilt(site: Site, tmp_path: Path) -> Site:
    site.app.state.documentation.site = Lazy(lambda: BuiltSite(tmp_path))
    return site


async def test_nobody_has_to_sign_in_to_read(built: Site) -> None:
    answer = await browser(built).client.get("/docs/")
    assert (answer.status_code, answer.text) == (200, PAGE)
    assert answer.headers["content-security-policy"] == policy_for(PAGE)
    assert answer.headers["content-security-policy"].count("'sha256-") == 1
    assert answer.headers["cache-control"] == "no-cache"


async def test_a_page_without_its_slash_leads_to_it(built: Site) -> None:
    client = browser(built).client
    for path, leads in {"/docs": "/docs/", "/docs/how-to": "/docs/how-to/"}.items():
        answer = await client.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, leads)


@pytest.mark.parametrize(
    "path",
    ["/docs/no-such/", "/docs/secret.key", "/docs/..%2f..%2fetc/passwd", "/docs//etc/passwd"],
)
async def test_what_is_no_page_of_it_is_not_found(built: Site, path: str) -> None:
    answer = await browser(built).client.get(path, follow_redirects=False)
    assert answer.status_code == 404
    assert answer.headers["content-security-policy"] == POLICY


async def test_without_a_site_the_pages_are_shown_as_they_are_written(unbuilt: Site) -> None:
    client = browser(unbuilt).client
    answer = await client.get("/docs/how-to/write-rules/")
    assert answer.status_code == 200
    assert "<code>make docs</code> builds the site" in answer.text
    assert 'href="/docs/security/#limits"' in answer.text
    assert "examples/" in answer.text
    assert "/docs/../" not in answer.text
    assert (await client.get("/docs/reference/routes/")).text.count("GET /runs") >= 2
    for path in ("images/flash-sale.svg", "reference/cadenza.schema.json"):
        assert (await client.get(f"/docs/{path}")).status_code == 200
    for path in ("/docs/nothing/", "/docs/images/../../pyproject.toml", "/docs/hooks/site.py"):
        assert (await client.get(path)).status_code == 404


async def test_the_type_of_a_problem_leads_to_what_it_means(unbuilt: Site) -> None:
    client = browser(unbuilt).client
    answer = await client.get("/problems/invalid-input", follow_redirects=False)
    assert answer.headers["location"] == "/docs/reference/problems/#invalid-input"
    assert (await client.get("/problems/%0d%0aX:1", follow_redirects=False)).status_code == 404


def test_html_in_a_page_that_is_shown_as_written_stays_text(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Hi\n\n<script>alert(1)</script> [x](javascript:alert)")
    pages = SourcePages(tmp_path)
    shown = pages.html(pages.pages[0])
    assert "<script" not in shown
    assert "href=" not in shown


async def test_the_openapi_document_is_written_once_beside_the_loop(site: Site) -> None:
    """It needs no key and takes seconds to write: whoever asks must not hold up the others."""
    written_by: list[threading.Thread] = []
    write = site.app.openapi

    def noted() -> dict[str, object]:
        written_by.append(threading.current_thread())
        return write()

    site.app.openapi = noted
    get = site.client.get
    answers = await asyncio.gather(*(get("/api/v1/openapi.json") for _ in range(20)))
    assert {answer.json()["info"]["title"] for answer in answers} == {"Cadenza"}
    assert len(written_by) == 1
    assert written_by[0] is not threading.main_thread()
    again = {"If-None-Match": answers[0].headers["etag"]}
    assert (await get("/api/v1/openapi.json", headers=again)).status_code == 304


def test_a_written_page_is_rendered_once(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Before")
    pages = SourcePages(tmp_path)
    first = pages.html(pages.pages[0])
    (tmp_path / "index.md").write_text("# After")
    assert pages.html(pages.pages[0]) is first
