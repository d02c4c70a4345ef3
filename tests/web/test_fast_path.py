"""Reads take a short way through the framework; the long way must say the same."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

import httpx2 as httpx
import pytest
from fastapi.routing import request_response

from cadenza.web.api import routes
from tests.web.support import Site

QUERIES = (
    "",
    "limit=1",
    "limit=0&cursor=%00",
    "limit=many",
    "limit=1&limit=2",
    "status=failure&status=timeout",
    "status=failure&status=odd",
    "source=manual&is_manual=perhaps",
    "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00%2B01:00",
    "from=yesterday&to=tomorrow",
    "job_id=00000000-0000-0000-0000-000000000001&endpoint_id=none",
    "search=%25&name=orders&sort=name&state=active",
    "search=&sort=colour",
    "count=3",
    "nothing=here",
)


@contextmanager
def the_long_way(site: Site) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for route in _reads(site):
            patch.setattr(route, "read", None)
            patch.setattr(route, "app", request_response(route.get_route_handler()))
        yield


def _reads(site: Site) -> list[routes.StrictRoute]:
    ours = [each for each in site.app.router.routes if isinstance(each, routes.StrictRoute)]
    return [each for each in ours if each.read is not None]


async def test_the_long_way_says_the_same(site: Site) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)  # whose outlook stands still
    ids = {"endpoint_id": endpoint["id"], "job_id": endpoint["job_id"]}
    paths = {
        each.path.format_map(filled).removeprefix("/api/v1")
        for each in _reads(site)
        for filled in (_Filled("nobody's", ids), _Filled("nobody's"), _Filled(str(UUID(int=1))))
    }
    assert len(paths) > 30
    asked = [f"{path}?{query}" for path in sorted(paths) for query in QUERIES]
    short = [_told(await site.ours.ask("GET", each)) for each in asked]
    with the_long_way(site):
        long = [_told(await site.ours.ask("GET", each)) for each in asked]
    for path, one, other in zip(asked, short, long, strict=True):
        assert one == other, path
    assert {status for status, _, _ in short} >= {200, 401, 404, 422}


class _Filled(dict[str, str]):
    def __init__(self, otherwise: str, known: Mapping[str, str] | None = None) -> None:
        super().__init__(known or {})
        self._otherwise = otherwise

    def __missing__(self, name: str) -> str:
        return self._otherwise


def _told(answer: httpx.Response) -> tuple[int, dict[str, str], dict[str, object]]:
    """Without what differs from one request to the next."""
    own = ("x-request-id", "ratelimit-remaining", "ratelimit-reset", "content-length")
    headers = {name: value for name, value in answer.headers.items() if name not in own}
    body = answer.json() if "json" in headers["content-type"] else {"text": answer.text}
    return answer.status_code, headers, {k: v for k, v in body.items() if k not in _MOVING}


_MOVING = ("request_id", "at", "next_runs", "baseline", "present", "last_hour", "last_day")
