"""A secret never comes back, wherever in a request it stood and whatever else was wrong."""

import json
from typing import Any

from tests.web.support import Site

SECRET = "correct-horse-battery-staple"
JSON = {"Content-Type": "application/json"}
GOOD = {"name": "orders", "every": "5m", "url": "https://shop.example/"}


def _wrong_bodies() -> list[Any]:
    secret = {"Authorization": SECRET}
    return [
        {**GOOD, "secret_headers": SECRET},
        {**GOOD, "secret_headers": [SECRET]},
        {**GOOD, "secret_headers": {"Authorization": [SECRET]}},
        {**GOOD, "secret_headers": {"Authorization": {"value": SECRET}}},
        {**GOOD, "secret_headers": {"Bad Name": SECRET}},
        {**GOOD, "secret_headers": {"Host": SECRET}},
        {**GOOD, "secret_headers": {"Authorization": f"{SECRET}\r\nX: y"}},
        {**GOOD, "secret_headers": {"Authorization": f"{SECRET}\0"}},
        {**GOOD, "secret_headers": {"Authorization": f"{SECRET}\ud800"}},
        {**GOOD, "secret_headers": {"Authorization": f"{SECRET}ł"}},
        {**GOOD, "secret_headers": {"Authorization": SECRET * 1000}},
        {**GOOD, "secret_headers": {"a": SECRET, "A": SECRET}},
        {**GOOD, "secret_headers": {f"x{n}": SECRET for n in range(60)}},
        {**GOOD, "secret_headers": {**secret, "X": None}},
        {**GOOD, "secret_headers": secret, "headers": {"authorization": "x"}},
        {**GOOD, "secret_headers": secret, "every": "never"},
        {**GOOD, "secret_headers": secret, "url": "ftp://x"},
        {**GOOD, "secret_headers": secret, "cron": "* * * * *"},
        {**GOOD, "secret_headers": secret, "body": "a GET has none", "method": "GET"},
        {**GOOD, "secret_headers": secret, "command": ["ls"]},
        {"name": "x", "on_demand": True, "command": ["ls"], "secret_headers": secret},
        {**GOOD, "secretHeaders": secret},
        {**GOOD, "password": f"{SECRET}\0"},
        {**GOOD, "password": f"{SECRET}\ud800"},
        {**GOOD, "passwd": SECRET},
        {**GOOD, "headers": {"Authorization": f"Bearer {SECRET}\n"}},
        {**GOOD, "url": f"https://shop:{SECRET}\0@shop.example/"},
        {**GOOD, "url": f"https://shop:{SECRET}@shop.example/{'x' * 5000}"},
        {**GOOD, "SECRET_HEADERS": secret},
        {**GOOD, "options": {"secret_headers": secret}},
        {**GOOD, "headers": {"secret_headers": secret}},
        {**GOOD, "headers": [{"secret_headers": secret}]},
        {**GOOD, "url": {"secret_headers": secret}},
        [{**GOOD, "secret_headers": secret}],
        {"secret_headers": secret},
    ]


async def test_an_error_never_shows_a_secret(site: Site) -> None:
    endpoint = await site.ours.endpoint(secret_headers={"X-Old": SECRET})
    for body in _wrong_bodies():
        content = json.dumps(body).encode()
        for method, path in (
            ("POST", f"/jobs/{endpoint['job_id']}/endpoints"),
            ("PATCH", f"/endpoints/{endpoint['id']}"),
        ):
            answer = await site.ours.ask(method, path, content=content, headers=JSON)
            assert SECRET not in answer.text, f"{method} {body}: {answer.text}"
            assert answer.status_code < 500
            assert method == "PATCH" or answer.status_code >= 400, answer.text


async def test_a_key_given_twice_beside_a_secret_does_not_show_it(site: Site) -> None:
    job = await site.ours.job()
    content = b'{"secret_headers": {"A": "%s", "A": "%s"}}' % ((SECRET.encode(),) * 2)
    answer = await site.ours.ask(
        "POST", f"/jobs/{job['id']}/endpoints", content=content, headers=JSON
    )
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "secret_headers.A"
    assert SECRET not in answer.text


async def test_a_body_that_breaks_off_within_a_secret_does_not_show_it(site: Site) -> None:
    job = await site.ours.job()
    content = b'{"secret_headers": {"A": "%s' % SECRET.encode()
    answer = await site.ours.ask(
        "POST", f"/jobs/{job['id']}/endpoints", content=content, headers=JSON
    )
    assert answer.status_code == 400
    assert SECRET not in answer.text


async def test_a_secret_is_nowhere_in_the_database_in_clear(postgres_site: Site) -> None:
    site = postgres_site
    endpoint = await site.ours.endpoint(secret_headers={"X-Key": SECRET})
    change = {"secret_headers": {"X-Other": SECRET}}
    headers = {"Idempotency-Key": "once"}
    await site.ours.done("PATCH", f"/endpoints/{endpoint['id']}", change, headers=headers)
    contents = await site.contents()
    assert SECRET not in json.dumps(contents)
