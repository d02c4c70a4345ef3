"""The score's data for a browser: with a cookie, of one's own jobs alone."""

from tests.factories import FAILED
from tests.web.html_pages import browser, signed_in
from tests.web.support import READ, Site


async def test_a_page_reads_with_its_cookie_what_the_api_says(site: Site) -> None:
    endpoint = await site.ours.endpoint(None, "orders")
    path = f"/jobs/{endpoint['job_id']}/score"
    visitor = await signed_in(site, site.ours, READ)
    own = (await visitor.open(f"{path}.json", params={"lanes": 1})).answer.json()
    other = await site.ours.done("GET", path)
    assert own["lanes"][0]["endpoint"] == other["lanes"][0]["endpoint"]
    assert own.keys() == other.keys()


async def test_nobody_else_gets_it(site: Site) -> None:
    endpoint = await site.ours.endpoint(None, "orders")
    path = f"/jobs/{endpoint['job_id']}/score.json"
    stranger = await signed_in(site, site.theirs)
    assert (await stranger.open(path)).status == 404
    nobody = await browser(site).open(path)
    assert nobody.path == "/sign-in"


async def test_the_frame_of_the_score_asks_for_it(site: Site) -> None:
    endpoint = await site.ours.endpoint(None, "orders")
    page = await (await signed_in(site, site.ours)).open(f"/jobs/{endpoint['job_id']}")
    (frame,) = [attributes for _, attributes in page.tags if attributes.get("id") == "score"]
    assert frame["data-score"] == f"/jobs/{endpoint['job_id']}/score.json"
    assert "hx-morph-skip" in frame


async def test_why_a_run_came_then_is_a_part_of_a_page(site: Site) -> None:
    endpoint = await site.ours.endpoint(None, "orders")
    await site.ours.done("POST", f"/endpoints/{endpoint['id']}/run")
    await site.backend.run_due(FAILED)
    (run,) = (await site.ours.done("GET", "/runs"))["items"]
    visitor = await signed_in(site, site.ours)
    why = await visitor.open(f"/runs/{run['id']}/why")
    assert "Why did orders run at" in why.text
    assert "You started this run by hand" in why.text
    assert "<html" not in why.html
    assert (await (await signed_in(site, site.theirs)).open(f"/runs/{run['id']}/why")).status == 404
