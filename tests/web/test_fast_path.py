"""Reads take a fast path through the framework; FastAPI's usual path must answer the same."""

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
def usual_path(site: Site) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for route in _reads(site):
            patch.setattr(route, "read", None)
            patch.setattr(route, "app", request_response(route.get_route_handler()))
        yield


def _reads(site: Site) -> list[routes.StrictRoute]:
    ours = [route for route in site.app.router.routes if isinstance(route, routes.StrictRoute)]
    return [route for route in ours if route.read is not None]


async def test_the_usual_path_answers_the_same(site: Site) -> None:
    endpoint = await site.ours.endpoint(on_demand=True)  # whose outlook stands still
    ids = {"endpoint_id": endpoint["id"], "job_id": endpoint["job_id"]}
    paths = {
        route.path.format_map(filled).removeprefix("/api/v1")
        for route in _reads(site)
        for filled in (_Filled("nobody's", ids), _Filled("nobody's"), _Filled(str(UUID(int=1))))
    }
    assert len(paths) > 30
    asked = [f"{path}?{query}" for path in sorted(paths) for query in QUERIES]
    fast = [_comparable(await site.ours.ask("GET", path)) for path in asked]
    with usual_path(site):
        usual = [_comparable(await site.ours.ask("GET", path)) for path in asked]
    for path, one, other in zip(asked, fast, usual, strict=True):
        assert one == other, path
    assert {status for status, _, _ in fast} >= {200, 401, 404, 422}


class _Filled(dict[str, str]):
    def __init__(self, otherwise: str, known: Mapping[str, str] | None = None) -> None:
        super().__init__(known or {})
        self._otherwise = otherwise

    def __missing__(self, name: str) -> str:
        return self._otherwise


def _comparable(answer: httpx.Response) -> tuple[int, dict[str, str], dict[str, object]]:
    """Without what differs from one request to the next."""
    own = ("x-request-id", "ratelimit-remaining", "ratelimit-reset", "content-length")
    headers = {name: value for name, value in answer.headers.items() if name not in own}
    body = answer.json() if "json" in headers["content-type"] else {"text": answer.text}
    return answer.status_code, headers, {k: v for k, v in body.items() if k not in _MOVING}


_MOVING = (
    "from",
    "to",
    "request_id",
    "at",
    "next_runs",
    "baseline",
    "present",
    "last_hour",
    "last_day",
)
