"""Secrets stay with their origin: who may change a url cannot have them sent to it."""

from typing import Any

import pytest

from tests.web.support import OPERATE, Site
from tests.web.test_endpoint_secrets import FIRST, SECOND, Target

HOME = "https://shop.example/orders"
ELSEWHERE = [
    "https://thief.example/orders",
    "http://shop.example/orders",
    "https://shop.example:8443/orders",
    "https://sub.shop.example/orders",
]
SAME = [
    "https://shop.example/other?x=1",
    "https://SHOP.example:443/orders",
    "HTTPS://shop.example",
]


async def _endpoint(site: Site, url: str = HOME) -> dict[str, Any]:
    return await site.ours.endpoint(url=url, secret_headers={"X-Key": FIRST, "X-Other": FIRST})


async def test_a_secret_is_not_sent_to_another_origin(site: Site) -> None:
    async with Target().serving() as home, Target().serving() as thief:
        made = await _endpoint(site, home.url)
        path = f"/endpoints/{made['id']}"
        changed = await site.ours.done("PATCH", path, {"url": thief.url}, scope=OPERATE)
        assert changed["target"]["secret_headers"] == []
        assert home.url.rstrip("/") in changed["warnings"][0]
        assert "X-Key, X-Other" in changed["warnings"][0]
        await site.ours.done("POST", f"{path}/test", scope=OPERATE)
        assert "x-key" not in thief.seen[-1]
        back = await site.ours.done("PATCH", path, {"url": home.url}, scope=OPERATE)
        assert back["target"]["secret_headers"] == []  # it is gone, and not only away


@pytest.mark.parametrize("url", ELSEWHERE)
async def test_another_scheme_host_or_port_is_another_origin(site: Site, url: str) -> None:
    made = await _endpoint(site)
    changed = await site.ours.done("PATCH", f"/endpoints/{made['id']}", {"url": url})
    assert changed["target"]["secret_headers"] == []


@pytest.mark.parametrize("url", SAME)
async def test_within_its_origin_a_secret_is_kept(site: Site, url: str) -> None:
    made = await _endpoint(site)
    changed = await site.ours.done("PATCH", f"/endpoints/{made['id']}", {"url": url})
    assert changed["target"]["secret_headers"] == ["X-Key", "X-Other"]
    assert changed["warnings"] == []


async def test_a_secret_that_is_sent_again_goes_to_the_new_origin(site: Site) -> None:
    async with Target().serving() as home, Target().serving() as other:
        made = await _endpoint(site, home.url)
        path = f"/endpoints/{made['id']}"
        patch = {"url": other.url, "secret_headers": {"X-Key": FIRST}}  # the very same one
        changed = await site.ours.done("PATCH", path, patch)
        assert changed["target"]["secret_headers"] == ["X-Key"]
        assert "X-Other" in changed["warnings"][0]
        await site.ours.done("POST", f"{path}/test")
        assert other.seen[-1]["x-key"] == FIRST
        assert "x-other" not in other.seen[-1]


@pytest.mark.parametrize("name", ["X-Key", "x-key"])
async def test_to_keep_a_secret_for_another_origin_is_refused(site: Site, name: str) -> None:
    made = await _endpoint(site)
    patch = {"url": ELSEWHERE[0], "secret_headers": {name: "***"}}
    answer = await site.ours.ask("PATCH", f"/endpoints/{made['id']}", json=patch)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == f"secret_headers.{name}"
    assert "belongs to https://shop.example, and is sent nowhere else" in error["fix"]


def _file(url: str, secret: str) -> dict[str, Any]:
    endpoint = {"name": "x", "every": "5m", "url": url, "secret_headers": {"X-Key": secret}}
    return {"jobs": [{"name": "shop", "endpoints": [endpoint]}]}


@pytest.mark.parametrize("dry_run", ["true", "false"])
async def test_a_file_cannot_take_a_secret_elsewhere(site: Site, dry_run: str) -> None:
    await site.ours.done("PUT", "/manifest", _file(HOME, FIRST))
    await site.ours.done("PUT", "/manifest", _file(SAME[0], "***"))
    path = f"/manifest?dry_run={dry_run}"
    answer = await site.ours.ask("PUT", path, json=_file(ELSEWHERE[0], "***"))
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == "jobs[0].endpoints[0].secret_headers.X-Key"
    assert "belongs to https://shop.example" in error["fix"]
    await site.ours.done("PUT", path, _file(ELSEWHERE[0], SECOND))


async def test_a_url_that_is_none_is_refused_as_such(site: Site) -> None:
    made = await _endpoint(site)
    for url in ("http://x:99999999", "http://[x", "nonsense"):
        answer = await site.ours.ask("PATCH", f"/endpoints/{made['id']}", json={"url": url})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "url"
