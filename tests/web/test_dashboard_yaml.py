"""Jobs as YAML on the dashboard: what is wrong is told at its line, and nothing is applied that was
not seen."""

from typing import Any

import pytest

from cadenza.web.dashboard.pages import manifest
from tests.web.html_pages import Browser, Seen, signed_in
from tests.web.support import READ, Site

JOB = """version: 1
jobs:
  - name: shop
    description: Watch the shop.
    endpoints:
      - name: orders
        every: 5m
        url: https://shop.example/orders
"""


async def _shop(site: Site) -> tuple[Browser, str]:
    job = await site.ours.job("shop", description="Watch the shop.")
    await site.ours.endpoint(job, "orders")
    return await signed_in(site, site.ours), f"/jobs/{job['id']}/yaml"


async def _endpoints(site: Site) -> list[dict[str, Any]]:
    return (await site.ours.done("GET", "/endpoints?sort=name"))["items"]


async def _applied(visitor: Browser, review: Seen) -> Seen:
    return await visitor.send(review, act="apply")


async def test_a_job_is_shown_as_the_file_that_changes_nothing(site: Site) -> None:
    visitor, path = await _shop(site)
    page = await visitor.open(path)
    assert page.form().fields["yaml"] == JOB
    review = await visitor.send(page)
    assert "No changes." in review.text


async def test_the_difference_comes_first_and_then_all_of_it_is_applied(site: Site) -> None:
    visitor, path = await _shop(site)
    wanted = JOB.replace("5m", "10m") + "      - name: stock\n        on_demand: true\n"
    wanted += "        url: https://shop.example/stock\n"
    review = await visitor.send(await visitor.open(path), yaml=wanted)
    assert review.status == 200
    assert "± changed orders" in review.text
    assert "+ new stock" in review.text
    assert len(await _endpoints(site)) == 1  # nothing is written yet
    done = await _applied(visitor, review)
    assert "Applied: 2 changes." in done.text
    assert [row["name"] for row in await _endpoints(site)] == ["orders", "stock"]


async def test_what_the_text_of_a_job_leaves_out_is_archived_and_no_other_job_is(
    site: Site,
) -> None:
    visitor, path = await _shop(site)
    await site.ours.endpoint(None, "of another job")
    review = await visitor.send(await visitor.open(path), yaml=JOB[: JOB.index("    endpoints:")])
    assert "− archived orders" in review.text
    assert "another" not in review.text
    await _applied(visitor, review)
    assert [row["name"] for row in await _endpoints(site)] == ["of another job"]


async def test_what_is_wrong_is_told_at_its_line(site: Site) -> None:
    visitor, path = await _shop(site)
    cases = {
        JOB.replace("5m", "soon"): ("Line 7", "every"),
        JOB.replace("        every", "\tevery"): ("Line 7", "not with tabs"),
        JOB.replace("every", "evry"): ("Line 7", "evry"),
        JOB.replace("name: shop", "name: store"): ("Line 1", "about the job 'shop' alone"),
        "": ("Line 1", "empty"),
        "jobs:\n  - name: a\x01": ("Line 2", "U+0001"),
    }
    for text, (line, words) in cases.items():
        page = await visitor.send(await visitor.open(path), yaml=text)
        assert page.status == 422, text
        assert line in page.text, page.text
        assert words in page.text, page.text
        assert page.form().fields["yaml"] == text  # what was typed stays
    assert len(await _endpoints(site)) == 1


async def test_what_was_not_seen_is_not_applied(site: Site) -> None:
    visitor, path = await _shop(site)
    review = await visitor.send(await visitor.open(path), yaml=JOB.replace("5m", "10m"))
    (orders,) = await _endpoints(site)
    await site.ours.done("PATCH", f"/endpoints/{orders['id']}", {"every": "7m"})
    again = await _applied(visitor, review)
    assert "Something has changed since you reviewed this" in again.text
    (orders,) = await _endpoints(site)
    assert orders["baseline"]["every_ms"] == 7 * 60_000
    await _applied(visitor, again)
    (orders,) = await _endpoints(site)
    assert orders["baseline"]["every_ms"] == 10 * 60_000


async def test_while_one_types_the_difference_is_a_part_of_the_page(site: Site) -> None:
    visitor, path = await _shop(site)
    fields = (await visitor.open(path)).form().fields
    typed = {**fields, "yaml": JOB.replace("5m", "1h")}
    part = await visitor.post(path, typed, headers={"HX-Request": "true"})
    assert "± changed orders" in part.text
    assert "<html" not in part.html


async def test_everything_is_one_file_too(site: Site) -> None:
    visitor, _ = await _shop(site)
    page = await visitor.open("/jobs/yaml")
    assert page.form().fields["yaml"] == JOB
    file = await visitor.open("/jobs/cadenza.yaml")
    assert file.html == JOB
    other = JOB.replace("name: shop", "name: store")
    review = await visitor.send(page, yaml=other)
    assert "+ new job store" in review.text
    assert "archived" not in review.text
    review = await visitor.send(page, yaml=other, prune="yes")
    assert "− archived job shop" in review.text
    await _applied(visitor, review)
    names = [job["name"] for job in (await site.ours.done("GET", "/jobs"))["items"]]
    assert names == ["store"]


async def test_who_may_only_read_sees_the_text_and_no_button(site: Site) -> None:
    _, path = await _shop(site)
    reader = await signed_in(site, site.ours, READ)
    for address in (path, "/jobs/yaml"):
        page = await reader.open(address)
        assert "name: shop" in page.html
        assert "Show changes" not in page.text
    token = page.form("/sign-out").fields
    assert (await reader.post(path, {**token, "yaml": JOB, "act": "apply"})).status == 403


async def test_what_is_too_much_for_a_page_is_not_written_for_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, _ = await _shop(site)
    assert "name: orders" in (await visitor.open("/jobs/yaml")).form().fields["yaml"]
    monkeypatch.setattr(manifest, "MANY", 0)
    page = await visitor.open("/jobs/yaml")
    assert "With 1 endpoints this is too large to edit here. Download it" in page.text
    assert "name: orders" not in page.text
    assert "name: orders" in (await visitor.client.get("/jobs/cadenza.yaml")).text
