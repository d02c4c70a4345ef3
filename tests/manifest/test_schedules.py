"""Schedules in a file: read, checked with their lines, written back as the same."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.domain.graph import GraphLimits
from cadenza.domain.schedule import Concurrency, DeclaredSchedule, ScheduleDefinition
from cadenza.manifest.checking import check_manifest
from cadenza.manifest.files import read_manifest
from cadenza.manifest.schedules import declared_document
from cadenza.manifest.yaml_writing import documents_to_yaml
from tests.factories import minutes
from tests.manifest.policy import CHECKS

POEM = {"name": "poem", "graph_id": "langgraph:poet", "cron": "0 9 * * *"}


def fields(*schedules: Any) -> list[str]:
    raw = {"jobs": [], "schedules": list(schedules)}
    return [error.field for error in check_manifest(raw, CHECKS).errors]


def test_a_good_schedule_becomes_a_definition() -> None:
    wanted = {
        **POEM,
        "account": "research",
        "concurrency_policy": "allow",
        "limits": {"time": "5m", "steps": 3},
        "requires": ["gpu"],
        "enabled": False,
    }
    (schedule,) = check_manifest({"jobs": [], "schedules": [wanted]}, CHECKS).schedules
    assert schedule == DeclaredSchedule(
        ScheduleDefinition(
            "langgraph:poet",
            "0 9 * * *",
            name="poem",
            concurrency=Concurrency.ALLOW,
            limits=GraphLimits(minutes(5), steps=3),
            requires=("gpu",),
            enabled=False,
        ),
        "research",
    )


def test_every_wrong_field_of_every_schedule_is_named_at_once() -> None:
    first = {"name": 5, "cron": "x", "graph_id": "y", "limits": {"time": "5x"}, "speed": 1}
    second = {**POEM, "timezone": "Mars"}
    assert sorted(fields(first, second, "text", POEM, POEM)) == [
        "schedules[0].cron",
        "schedules[0].graph_id",
        "schedules[0].limits.time",
        "schedules[0].name",
        "schedules[0].speed",
        "schedules[1].timezone",
        "schedules[2]",
        "schedules[3].name",
        "schedules[4].name",
    ]


@pytest.mark.parametrize("missing", ["name", "graph_id", "cron"])
def test_what_is_required_is_asked_for(missing: str) -> None:
    rest = {name: value for name, value in POEM.items() if name != missing}
    assert fields(rest) == [f"schedules[0].{missing}"]


@pytest.mark.parametrize("raw", [5, "text", {"a": 1}])
def test_what_is_no_list_is_said_once(raw: object) -> None:
    errors = check_manifest({"jobs": [], "schedules": raw}, CHECKS).errors
    assert [error.field for error in errors] == ["schedules"]


def test_an_input_that_no_json_can_hold_is_refused() -> None:
    assert fields({**POEM, "input": {"x": float("nan")}}) == ["schedules[0].input"]


def test_a_problem_has_its_line_and_a_name_is_one_over_all_files(tmp_path: Path) -> None:
    text = "jobs: []\nschedules:\n  - name: poem\n    graph_id: langgraph:poet\n    cron: {}\n"
    (tmp_path / "a.yaml").write_text(text.format("'0 9 * * *'"))
    (tmp_path / "b.yaml").write_text(text.format("never"))
    problems = read_manifest(tmp_path, CHECKS, None).problems
    where = [(problem.location.line, problem.field) for problem in problems]
    assert where == [(5, "schedules[0].cron"), (3, "schedules[0].name")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.text(max_size=8), JSON, max_size=4),
    st.sampled_from(Concurrency),
    st.booleans(),
    st.integers(1, 86_400_000),
)
def test_what_is_written_reads_back_as_the_same(
    given_input: dict[str, Any], policy: Concurrency, enabled: bool, time_ms: int
) -> None:
    definition = ScheduleDefinition(
        "python:a:b",
        "*/5 * * * *",
        "Europe/Paris",
        given_input,
        "name",
        policy,
        GraphLimits(minutes(1) * time_ms / 60_000, calls=3),
        ("gpu",),
        enabled,
    )
    declared = DeclaredSchedule(definition, "research")
    text = documents_to_yaml([], [declared_document(declared)])
    document = yaml.safe_load(text)["schedules"][0]
    checked = check_manifest({"jobs": [], "schedules": [document]}, CHECKS)
    small = [error for error in checked.errors if error.field != "schedules[0].limits.time"]
    assert small == []
    if not checked.errors:
        assert checked.schedules == (declared,)
