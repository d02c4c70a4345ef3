"""What is refused names what is wrong; and names are the same however a keyboard writes them."""

from typing import Any

import pytest

from tests.web.support import Site

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


async def _refused(site: Site, method: str, path: str, body: Any) -> tuple[str, str]:
    answer = await site.ours.ask(method, path, json=body)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    return error["field"], error["fix"]


@pytest.mark.parametrize(
    ("patch", "field", "why"),
    [
        ({"nonsense": None}, "nonsense", "no such field"),
        ({"cron": "0 0 * * *", "timezone": "Factory"}, "timezone", "IANA"),
        ({"cron": "0 0 31 2 *", "timezone": "UTC"}, "cron", "never comes"),
        ([], "body", "it must be an object"),
    ],
)
async def test_an_endpoint_is_told_what_is_wrong(
    site: Site, patch: Any, field: str, why: str
) -> None:
    made = await site.ours.endpoint()
    told = await _refused(site, "PATCH", f"/endpoints/{made['id']}", patch)
    assert told[0] == field
    assert why in told[1]


async def test_a_job_has_no_field_that_null_could_take_away_and_nobody_knows(site: Site) -> None:
    job = await site.ours.job()
    told = await _refused(site, "PATCH", f"/jobs/{job['id']}", {"nonsense": None})
    assert told == ("nonsense", "there is no such field")


@pytest.mark.parametrize("key", ["two words", "caf\u00e9"])
async def test_what_must_match_a_pattern_is_told_in_words(site: Site, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode()}
    answer = await site.ours.ask("POST", "/jobs", json={"name": "a job"}, headers=headers)
    (error,) = answer.json()["errors"]
    assert error["fix"] == "write letters, digits and punctuation of ASCII, without spaces"
    answer = await site.ours.ask("GET", "/ids", params={"kind": "jobs", "begins": "not an id"})
    fixes = {error["field"]: error["fix"] for error in answer.json()["errors"]}
    assert fixes["begins"] == "write at least the first eight digits of an id, like 01a1ece2"


@pytest.mark.parametrize("until", ["9999-12-31T23:59:59Z", "9999-01-01T00:00:00-14:00"])
async def test_a_year_that_cannot_be_used_is_named(site: Site, until: str) -> None:
    made = await site.ours.endpoint()
    told = await _refused(site, "POST", f"/endpoints/{made['id']}/pause", {"until": until})
    assert told == ("until", "its year is 9999; the years 2 to 9998 can be used")


async def test_names_are_compared_as_they_look(site: Site) -> None:
    job = await site.ours.job(COMPOSED)
    again = await site.ours.ask("POST", "/jobs", json={"name": DECOMPOSED})
    assert again.status_code == 409
    found = await site.ours.done("GET", f"/jobs?name={DECOMPOSED}")
    assert [each["id"] for each in found["items"]] == [job["id"]]
    endpoint = {"name": DECOMPOSED, "every": "5m", "url": "https://x.example"}
    file = {"jobs": [{"name": DECOMPOSED, "endpoints": [endpoint]}]}
    await site.ours.done("PUT", "/manifest", file)
    twice = {"jobs": [{"name": COMPOSED, "endpoints": [endpoint, {**endpoint, "name": COMPOSED}]}]}
    field, why = await _refused(site, "PUT", "/manifest", twice)
    assert field == "jobs[0].endpoints[1].name"
    assert "another endpoint of the job has it" in why


MARKS = "a" + "\u0300\u0316" * 150_000  # to compose it takes minutes


async def test_a_name_of_countless_marks_is_refused_for_its_length(site: Site) -> None:
    """Nobody else is served while a name is composed."""
    endpoint = {"name": MARKS, "every": "5m", "url": "https://x.example"}
    for method, path, body in (
        ("POST", "/jobs", {"name": MARKS}),
        ("PUT", "/manifest", {"jobs": [{"name": "a", "endpoints": [endpoint]}]}),
        ("POST", "/accounts", {"name": MARKS}),
    ):
        field, fix = await _refused(site, method, path, body)
        assert field.endswith("name")
        assert "100 characters" in fix
    searched = await site.ours.ask("GET", "/jobs", params={"name": MARKS[:10_000]})
    assert searched.status_code in (414, 422)
