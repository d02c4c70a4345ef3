"""What an owner lets planners do: as it is written, and written back."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from cadenza.domain.definition import JobDefinition, check_job
from cadenza.domain.errors import InvalidInput
from cadenza.domain.planner_policy import USUAL, PlannerPolicy
from cadenza.domain.rule import Mode
from cadenza.manifest.models import JobFields
from cadenza.manifest.planner import patched_planner
from cadenza.manifest.reading import errors_of, read_job_fields
from cadenza.manifest.writing import job_document

ALL = {
    "rules": "act", "detectors": "off", "llm": "advise", "relax": 2.5, "extra_runs": 0.0,
    "max_pause": "6h", "min_gap": "10m", "model": "m", "prompt": "Be calm.",
    "tokens_per_day": 5, "money_per_day": 0.5, "tokens_per_session": 4, "account": "shop",
}  # fmt: skip


def read(planner: Any) -> PlannerPolicy:
    definition = read_job_fields(JobFields.model_validate({"name": "shop", "planner": planner}))
    check_job(definition)
    return definition.planner


def written(policy: PlannerPolicy) -> Any:
    return job_document(JobDefinition("shop", planner=policy)).get("planner")


def test_everything_is_read_and_written_back() -> None:
    assert written(read(ALL)) == ALL


@pytest.mark.parametrize("planner", [None, {}, {"relax": False}, {"min_gap": "5m"}])
def test_the_usual_is_left_out(planner: Any) -> None:
    assert read(planner) == USUAL
    assert written(USUAL) is None


@pytest.mark.parametrize(
    ("planner", "policy", "again"),
    [
        ("act", USUAL.all_in(Mode.ACT), {"rules": "act", "detectors": "act", "llm": "act"}),
        (
            {"mode": "advise", "llm": "off"},
            PlannerPolicy(rules=Mode.ADVISE, detectors=Mode.ADVISE, llm=Mode.OFF),
            {"rules": "advise", "detectors": "advise", "llm": "off"},
        ),
        ({"budget": 3.0}, PlannerPolicy(extra_runs=2.0), {"extra_runs": 2.0}),
        ({"budget": 0.5}, USUAL, None),
        ({"relax": True}, PlannerPolicy(relax=1.5), {"relax": True}),
        ({"relax": 1}, USUAL, None),
        ({"max_pause": 0}, PlannerPolicy(max_pause=timedelta(0)), {"max_pause": 0}),
        ({"max_pause": "0s"}, PlannerPolicy(max_pause=timedelta(0)), {"max_pause": 0}),
    ],
)
def test_older_and_shorter_forms_are_read_and_written_in_the_new_one(
    planner: Any, policy: PlannerPolicy, again: Any
) -> None:
    assert read(planner) == policy
    assert written(policy) == again


@pytest.mark.parametrize(
    ("planner", "field"),
    [
        ("maybe", "planner.mode"),
        ({"rules": "maybe"}, "planner.rules"),
        ({"relax": 0.5}, "planner.relax"),
        ({"relax": "very"}, "planner.relax"),
        ({"relax": 11}, "planner.relax"),
        ({"extra_runs": -1}, "planner.extra_runs"),
        ({"extra_runs": 101}, "planner.extra_runs"),
        ({"extra_runs": float("nan")}, "planner.extra_runs"),
        ({"extra_runs": "NaN"}, "planner.extra_runs"),
        ({"extra_runs": [1]}, "planner.extra_runs"),
        ({"max_pause": "soon"}, "planner.max_pause"),
        ({"max_pause": False}, "planner.max_pause"),
        ({"max_pause": -1}, "planner.max_pause"),
        ({"max_pause": "31d"}, "planner.max_pause"),
        ({"min_gap": "30s"}, "planner.min_gap"),
        ({"min_gap": 0}, "planner.min_gap"),
        ({"min_gap": "25h"}, "planner.min_gap"),
        ({"prompt": "x" * 4_001}, "planner.prompt"),
        ({"prompt": "\0"}, "planner.prompt"),
        ({"model": ""}, "planner.model"),
        ({"tokens_per_day": 1.5}, "planner.tokens_per_day"),
        ({"money_per_day": -0.1}, "planner.money_per_day"),
        ({"budget": 2, "extra_runs": 1}, "planner.budget"),
        ({"probe_budget": 2}, "planner.probe_budget"),
        (7, "planner"),
    ],
)
def test_what_is_wrong_is_named(planner: Any, field: str) -> None:
    with pytest.raises((ValidationError, InvalidInput)) as raised:
        read(planner)
    error = raised.value
    problems = [error] if isinstance(error, InvalidInput) else errors_of(error)
    assert [problem.field for problem in problems] == [field]
    assert problems[0].fix
    assert not problems[0].fix.startswith("Input should")  # the words of the library


def test_a_patch_changes_what_it_names_and_null_takes_it_away() -> None:
    present = {"llm": "act", "model": "m", "extra_runs": 2.0}
    assert patched_planner(present, {"llm": "off", "model": None}) == {
        "llm": "off",
        "extra_runs": 2.0,
    }
    assert patched_planner(present, {"mode": "advise", "budget": 2.0}) == {
        "model": "m",
        "mode": "advise",
        "budget": 2.0,
    }
