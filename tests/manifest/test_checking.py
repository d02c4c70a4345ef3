"""A whole manifest, from a file or a request: errors by path, or definitions."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.manifest import checking, field_types
from cadenza.manifest.checking import check_manifest
from cadenza.manifest.models import EndpointDocument, JobDocument
from tests.effort import at_most
from tests.manifest.policy import CHECKS

URL = {"every": "5m", "url": "https://example.com/"}
HUSH = "hush-hush-4711"


def fields(raw: object) -> list[str]:
    return [error.field for error in check_manifest(raw, CHECKS).errors]


def in_job(*endpoints: Any) -> dict[str, Any]:
    return {"jobs": [{"name": "a", "endpoints": list(endpoints)}]}


def test_a_good_manifest_becomes_definitions() -> None:
    checked = check_manifest(in_job({"name": "b", **URL}), CHECKS)
    assert checked.errors == ()
    assert [endpoint.name for endpoint in checked.jobs[0].endpoints] == ["b"]


def test_one_error_anywhere_and_there_are_no_definitions() -> None:
    checked = check_manifest(
        in_job({"name": "b", **URL}, {"name": "c", **URL, "cron": "x"}), CHECKS
    )
    assert checked.jobs == ()


def test_a_bad_field_does_not_keep_the_others_from_being_looked_at() -> None:
    bad = {"name": 5, "every": "5x", "url": "ftp://x", "min_interval": "2h", "max_interval": "1h"}
    assert sorted(fields(in_job(bad))) == [
        f"jobs[0].endpoints[0].{field}" for field in ("every", "min_interval", "name", "url")
    ]


def test_contradictions_do_not_keep_the_others_from_being_looked_at() -> None:
    bad = {
        "name": "a", "every": "5m", "cron": "@daily", "url": "ftp://x", "folder": "/srv",
        "timeout": "1s", "timeout_ms": 5,
    }  # fmt: skip
    assert sorted(fields(in_job(bad))) == [
        f"jobs[0].endpoints[0].{field}" for field in ("every", "folder", "timeout_ms", "url")
    ]


def test_an_unknown_field_with_a_dot_in_its_name_is_one_more_unknown_field() -> None:
    raw = in_job({"name": "b", **URL, "a.b": 1, "url": "ftp://x"})
    assert sorted(fields(raw)) == ["jobs[0].endpoints[0].a.b", "jobs[0].endpoints[0].url"]


def test_unknown_fields_of_a_job_and_of_a_file_do_not_hide_the_rest() -> None:
    job = {"name": "a/b", "every": "5m", "url": "x", "endpoints": [{"name": "b", **URL, "jobs": 1}]}
    assert sorted(fields({"jobs": [job], "name": "x"})) == [
        "jobs[0].endpoints[0].jobs", "jobs[0].every", "jobs[0].name", "jobs[0].url", "name",
    ]  # fmt: skip


# --- Once -----------------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often an endpoint with one duration was built by pydantic, and checked by the domain."""
    counts: Counter[str] = Counter()

    def counted(module: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(module, name)

        def call(*arguments: Any) -> Any:
            counts[name] += 1
            return original(*arguments)

        monkeypatch.setattr(module, name, call)

    counted(field_types, "parse_duration")
    counted(checking, "errors_in")
    counted(checking, "read_endpoint")
    return counts


MANY = in_job(*({"name": f"e{number}", **URL} for number in range(20)))


def test_a_good_file_is_built_and_checked_once(calls: Counter[str]) -> None:
    assert check_manifest(MANY, CHECKS).errors == ()
    assert calls == {"parse_duration": 20, "errors_in": 20, "read_endpoint": 20}


def test_only_what_is_wrong_is_built_again(calls: Counter[str]) -> None:
    raw = in_job(*MANY["jobs"][0]["endpoints"], {"name": "bad", **URL, "zzz": 1})
    assert fields(raw) == ["jobs[0].endpoints[20].zzz"]
    assert calls == {"parse_duration": 22, "errors_in": 21, "read_endpoint": 21}


def test_a_name_given_twice_is_told_with_the_first() -> None:
    raw = in_job({"name": "b", **URL}, {"name": "b", **URL})
    assert fields(raw) == ["jobs[0].endpoints[1].name"]
    assert fields({"jobs": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}) == ["jobs[2].name"]


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"jobs": [], "version": 2}, "version"),
        ({"jobs": [], "job": []}, "job"),
        ({"jobs": [{"name": "x" * 101}]}, "jobs[0].name"),
        ({"jobs": [{"name": "a", "description": "x" * 10_001}]}, "jobs[0].description"),
        ({"jobs": [{"name": "a", "description": "\0"}]}, "jobs[0].description"),
        ({"jobs": [{"name": "a"}] * 10_001}, "jobs"),
        (in_job({"name": "a", **URL, "headers": {f"H{n}": "" for n in range(51)}}), None),
        (in_job({"name": "a", "every": "5m", "command": ["x"] * 257}), None),
        (in_job({"name": "a", "every": "5m", "url": "https://" + "x" * 2048}), None),
        (in_job({"name": "a", **URL, "success_statuses": [200] * 101}), None),
        (in_job({"name": "a", **URL, "success_when": "x" * 1001}), None),
        (in_job({"name": "a", **URL, "method": "TRACE"}), None),
        (in_job({"name": "a", **URL, "body": [10**5000]}), None),
        (in_job({"name": "a", **URL, "max_redirects": 10**5000}), None),
        (in_job({"name": "a", **URL, "timeout": "31m"}), None),
        (in_job({"name": "a", "url": "https://example.com/", "every": "367d"}), None),
        (in_job({"name": "a", "url": "https://example.com/", "every_ms": 10**12}), None),
    ],
)
def test_what_is_too_long_too_many_or_unknown_is_refused(raw: object, field: str | None) -> None:
    errors = fields(raw)
    assert errors
    if field is not None:
        assert errors[0] == field


FIELDS = sorted({*EndpointDocument.model_fields, *JobDocument.model_fields, "jobs", "x"})
NASTY = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(),
    st.sampled_from(["5m", "@daily", "UTC", "GET", "https://example.com/", "", "\0", "\ud800"]),
    st.text(max_size=5),
)  # fmt: skip
RAW = st.recursive(
    NASTY,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=12,
)
ENDPOINTS = st.dictionaries(st.sampled_from(FIELDS), RAW, max_size=8)


@settings(max_examples=300, deadline=None)
@given(RAW | st.lists(ENDPOINTS | RAW, max_size=3).map(lambda drawn: in_job(*drawn)))
def test_whatever_is_sent_ends_as_definitions_or_errors(raw: Any) -> None:
    checked = check_manifest(raw, CHECKS)
    assert checked.errors or isinstance(checked.jobs, tuple)
    for error in checked.errors:
        assert error.field
        assert error.fix
        assert len(str(error)) < 1000


@settings(max_examples=200, deadline=None)
@given(ENDPOINTS, st.sampled_from(["secret_headers", "secret", "url", "command", "endpoints"]))
def test_no_secret_is_ever_shown(endpoint: dict[str, Any], wrapped: str) -> None:
    hidden = {
        "name": "a",
        **endpoint,
        "secret_headers": {"Key": HUSH, "": HUSH, "Key\n": f"{HUSH}\n"},
    }
    for raw in (in_job(hidden), in_job({wrapped: hidden}), {"jobs": hidden}, [hidden]):
        assert HUSH not in "\n".join(map(str, check_manifest(raw, CHECKS).errors))


def test_a_file_that_is_wrong_everywhere_is_read_until_its_first_errors() -> None:
    jobs = [{"name": f"job {number}", "endpoints": [{}] * 300} for number in range(300)]
    with at_most(1):  # a hundredth of it; all 90,000 took 2.4 s
        checked = check_manifest({"jobs": jobs}, CHECKS)
    assert len(checked.errors) == 1000
