"""The files of the dashboard: vendored ones as they were published, and how all are served."""

from hashlib import sha256
from importlib import resources

from cadenza.web.dashboard.assets import asset_url, assets, version
from cadenza.web.dashboard.policy import POLICY
from tests.web.html_pages import browser
from tests.web.support import Site

VENDORED = {  # as npm has them: htmx.org 4.0.1, uplot 1.6.32
    "vendor/htmx.min.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
    "vendor/hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
    "vendor/uPlot.esm.js": "5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba",
    "vendor/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}


def test_vendored_files_are_those_that_were_published() -> None:
    hashes = {path: sha256(assets()[path].content).hexdigest() for path in VENDORED}
    assert hashes == VENDORED


def test_every_vendored_library_has_its_licence() -> None:
    folder = resources.files("cadenza.web.dashboard").joinpath("static/vendor")
    names = {file.name for file in folder.iterdir()}
    assert {"htmx.LICENSE.txt", "uPlot.LICENSE.txt"} <= names


async def test_a_file_is_kept_for_ever_under_the_name_of_its_content(site: Site) -> None:
    answer = await browser(site).client.get(asset_url("base.css"))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/css")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.content == assets()["base.css"].content
    again = await browser(site).client.get(
        asset_url("base.css"), headers={"If-None-Match": answer.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


async def test_under_another_version_a_browser_asks_again(site: Site) -> None:
    answer = await browser(site).client.get("/static/old/base.css")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"


async def test_files_are_packed_for_who_can_unpack_them(site: Site) -> None:
    client = browser(site).client
    path = asset_url("vendor/htmx.min.js")
    packed = await client.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(packed.content) / 2
    plain = await client.get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == packed.content


async def test_nothing_outside_the_folder_is_served(site: Site) -> None:
    client = browser(site).client
    for path in ("../app.py", "..%2fapp.py", "vendor/", "", "templates/layout.html", "nothing.css"):
        assert (await client.get(f"/static/{version()}/{path}")).status_code == 404, path


async def test_the_api_answers_as_before_where_there_is_no_such_route(site: Site) -> None:
    for path in ("/api/v1/nothing", "/api/nothing"):
        answer = await site.client.get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
