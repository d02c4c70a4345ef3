"""What may be called: the validation policy holds for POST and PATCH alike."""

from typing import Any

import httpx2 as httpx
import pytest

from tests.web.support import Site

GOOD = {"name": "orders", "every": "5m", "url": "https://shop.example/"}
WRONG: list[tuple[str, dict[str, Any]]] = [
    *(
        ("url", {"url": url})
        for url in (
            "shop.example",
            "//shop.example/",
            "ftp://shop.example/",
            "file:///etc/passwd",
            "gopher://shop.example/",
            "javascript:alert(1)",
            "HTTPS:/shop.example",
            "https://",
            "https:///path",
            "https://user@shop.example/",
            "https://user:password@shop.example/",
            "https://shop.example\\@evil.example/",
            "https://shop.example/a b",
            "https://shop.example/\tx",
            "https://shop.example/\nx",
            "https://shop.example/\x7f",
            "https://shop.example/\u200b",
            "https://shop.example/\u202e",
            "https://shop.example:0/",
            "https://shop.example:65536/",
            "https://shop.example:http/",
            "https://shop.example:-1/",
            "https://shop.example:٨٠/",
            "https://shop%2eexample/",
            "https://shop..example/",
            "https://" + "a" * 64 + ".example/",
            "https://" + "a." * 130 + "example/",
            "https://[::1/",
            "https://[::1%25eth0]/",
        )
    ),
    *(
        ("headers", {"headers": {name: "x"}})
        for name in (
            "",
            "Bad Name",
            "Bad:Name",
            "Bad\r\nName",
            "Naïve",
            "x" * 129,
            "Host",
            "HOST",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
            "Upgrade",
            "TE",
            "Expect",
            "Accept-Encoding",
            "Idempotency-Key",
            "webhook-id",
            "Webhook-Signature",
            "webhook-timestamp",
            "Proxy-Authorization",
            "Cadenza-Attempt",
        )
    ),
    *(
        ("headers.X-Header", {"headers": {"X-Header": value}})
        for value in ("a\r\nb", "a\nb", "a\rb", "a\x7fb", "a\x1bb", "€", "x" * 8193)
    ),
    *(
        ("secret_headers.X-Header", {"secret_headers": {"X-Header": value}})
        for value in ("a\r\nb", "a\x1bb", "€", "x" * 8193, "", "  ")
    ),
    ("secret_headers", {"secret_headers": {"Host": "x"}}),
    ("headers", {"headers": {"X-A": "1", "x-a": "2"}}),
    ("secret_headers", {"headers": {"X-A": "1"}, "secret_headers": {"x-a": "2"}}),
    ("headers", {"headers": {f"X-{n}": "x" * 8000 for n in range(3)}}),
    ("body", {"body": "x" * (256 * 1024 + 1), "method": "POST"}),
    ("body", {"body": "é" * (200 * 1024), "method": "POST"}),
    ("body", {"body": ["x" * 300_000], "method": "POST"}),
    ("body", {"body": "x", "method": "GET"}),
    ("body", {"body": {"a": 1}, "method": "HEAD"}),
    *(
        ("method", {"method": method})
        for method in ("get", "CONNECT", "TRACE", "PURGE", "", " GET")
    ),
    ("timeout", {"timeout": "31m"}),
    ("timeout_ms", {"timeout_ms": 0}),
    ("max_redirects", {"max_redirects": 11}),
    ("success_statuses[0]", {"success_statuses": [99]}),
    ("success_statuses", {"success_statuses": [200] * 101}),
    ("success_when", {"success_when": "body.ok =="}),
    ("success_when", {"success_when": "nobody_knows_this == 1"}),
    ("success_when", {"success_when": "(" * 400 + ")" * 400}),
    ("command", {"command": ["ls"], "url": None}),
    ("url", {"command": ["ls"]}),
    ("folder", {"folder": "/tmp"}),
]


async def test_what_may_not_be_called_is_refused_when_an_endpoint_is_made(site: Site) -> None:
    job = await site.ours.job()
    before = await site.contents()
    for field, wrong in WRONG:
        whole = {key: value for key, value in {**GOOD, **wrong}.items() if value is not None}
        answer = await site.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=whole)
        _refuses(answer, field, wrong)
    assert await site.contents() == before


async def test_what_may_not_be_called_is_refused_when_an_endpoint_is_changed(site: Site) -> None:
    made = await site.ours.endpoint()
    before = await site.contents()
    for field, wrong in WRONG:
        answer = await site.ours.ask("PATCH", f"/endpoints/{made['id']}", json=wrong)
        # A patch with another target takes the place of the old one.
        _refuses(answer, "command" if "command" in wrong else field, wrong)
    assert await site.contents() == before


def _refuses(answer: httpx.Response, field: str, wrong: dict[str, Any]) -> None:
    context = f"{wrong!r:.80}: {answer.status_code} {answer.text:.300}"
    assert answer.status_code == 422, context
    assert [error["field"] for error in answer.json()["errors"]] == [field], context
    assert answer.json()["errors"][0]["fix"], context


@pytest.fixture
async def open_site(site: Site) -> Any:
    async with site.emptied(shell_allowed=True, shell_folders="/tmp") as allowed:
        yield allowed


async def test_where_commands_are_allowed_they_are_taken_and_checked(open_site: Site) -> None:
    house = open_site.ours
    made = await house.endpoint(command=["echo", "hello"], timeout="5s")
    assert made["target"]["kind"] == "shell"
    assert made["target"]["command"] == ["echo", "hello"]
    path = f"/jobs/{made['job_id']}/endpoints"
    base = {"name": "x", "every": "5m"}
    for field, wrong in (
        ("command", {"command": []}),
        ("command", {"command": [""]}),
        ("command", {"command": "echo hello"}),
        ("command[0]", {"command": [5]}),
        ("command", {"command": ["x"] * 257}),
        ("command", {"command": ["x" * 70_000]}),
        ("folder", {"command": ["ls"], "folder": ""}),
        ("folder", {"command": ["ls"], "folder": "x" * 1025}),
        ("headers", {"command": ["ls"], "headers": {"X": "y"}}),
    ):
        answer = await house.ask("POST", path, json={**base, **wrong})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == field, answer.text


async def test_a_target_goes_from_http_to_a_command_and_back(open_site: Site) -> None:
    house = open_site.ours
    made = await house.endpoint(headers={"X-A": "1"}, secret_headers={"X-B": "secret"})
    path = f"/endpoints/{made['id']}"
    shell = await house.done("PATCH", path, {"command": ["echo", "hi"]})
    assert (shell["target"]["kind"], shell["target"]["url"]) == ("shell", None)
    http = await house.done("PATCH", path, {"url": "https://shop.example/"})
    assert (http["target"]["kind"], http["target"]["command"]) == ("http", None)
    assert http["target"]["secret_headers"] == []


async def test_the_installations_closed_ports_are_closed(site: Site) -> None:
    async with site.emptied(closed_ports="25, 6000-6010") as closed:
        job = await closed.ours.job()
        for port, status in ((25, 422), (6005, 422), (443, 201)):
            body = {**GOOD, "url": f"https://shop.example:{port}/"}
            answer = await closed.ours.ask("POST", f"/jobs/{job['id']}/endpoints", json=body)
            assert answer.status_code == status, answer.text
