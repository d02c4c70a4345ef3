"""Documents and YAML from definitions: what is written reads back as the same."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import CronLine, Every
from cadenza.domain.target import HttpTarget, Secret, ShellTarget
from cadenza.manifest.checking import check_manifest
from cadenza.manifest.files import read_manifest
from cadenza.manifest.models import EndpointDocument
from cadenza.manifest.reading import read_endpoint
from cadenza.manifest.writing import endpoint_document, job_document
from cadenza.manifest.yaml_loading import read_tree
from cadenza.manifest.yaml_writing import documents_to_yaml
from tests.manifest.drawn import NASTY, endpoints, jobs, texts
from tests.manifest.policy import CHECKS

MINUTE = timedelta(minutes=1)
SLOWLY_DRAWN = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@SLOWLY_DRAWN
@given(endpoints())
def test_an_endpoint_is_the_same_after_writing_and_reading(definition: EndpointDefinition) -> None:
    document = endpoint_document(definition)
    again = read_endpoint(EndpointDocument.model_validate(document))
    assert again == definition
    assert endpoint_document(again) == document


@SLOWLY_DRAWN
@given(jobs())
def test_a_job_is_the_same_after_writing_and_reading(definition: JobDefinition) -> None:
    assert check_manifest({"jobs": [job_document(definition)]}, CHECKS).jobs == (definition,)


def test_an_empty_body_is_still_a_body() -> None:
    definition = EndpointDefinition(
        "a", Every(MINUTE), HttpTarget("https://example.com/", method="POST", body="")
    )
    document = endpoint_document(definition)
    assert document["body"] == ""
    assert read_endpoint(EndpointDocument.model_validate(document)) == definition


def test_what_goes_without_saying_is_left_out_and_secrets_are_never_written() -> None:
    target = HttpTarget("https://example.com/", secret_headers={"Key": Secret("hush")})
    definition = EndpointDefinition("a", CronLine("@daily"), target)
    assert endpoint_document(definition) == {
        "name": "a",
        "cron": "@daily",
        "url": "https://example.com/",
        "secret_headers": {"Key": "***"},
    }


# --- YAML -----------------------------------------------------------------------------------


def to_yaml(jobs: list[JobDefinition]) -> str:
    return documents_to_yaml([job_document(job) for job in jobs])


def read_back(text: str) -> Any:
    tree = read_tree("x.yaml", text)
    assert tree.problems == []
    return tree.value


@SLOWLY_DRAWN
@given(st.lists(jobs(), max_size=3, unique_by=lambda each: each.name))
def test_yaml_reads_back_as_the_same_definitions(definitions: list[JobDefinition]) -> None:
    written = read_back(to_yaml(definitions))
    assert check_manifest(written, CHECKS).jobs == tuple(definitions)


@settings(max_examples=500, deadline=None)
@given(texts)
def test_any_text_stays_the_text_it_was(text: str) -> None:
    job = JobDefinition("a", text, (EndpointDefinition("b", Every(MINUTE), ShellTarget((text,))),))
    [written] = read_back(to_yaml([job]))["jobs"]
    assert written.get("description", "") == text
    assert written["endpoints"][0]["command"] == [text]


def test_every_nasty_text_stays_what_it_was_also_as_the_name_of_a_header() -> None:
    headers = {name: name for name in NASTY}
    target = HttpTarget("https://example.com/", headers=headers)
    job = JobDefinition("a", "", (EndpointDefinition("b", Every(MINUTE), target),))
    [written] = read_back(to_yaml([job]))["jobs"]
    assert written["endpoints"][0]["headers"] == headers


def test_a_file_that_was_written_passes_the_door(tmp_path: Path) -> None:
    target = HttpTarget("https://example.com/", secret_headers={"Key": Secret("hush")})
    job = JobDefinition("a", "One.\nTwo.", (EndpointDefinition("b", Every(MINUTE), target),))
    file = tmp_path / "cadenza.yaml"
    file.write_text(to_yaml([job]), encoding="utf-8")
    manifest = read_manifest(file, CHECKS, {})
    assert (manifest.problems, manifest.warnings) == ([], [])
    assert "hush" not in file.read_text()


def test_yaml_looks_as_a_person_would_write_it() -> None:
    web = EndpointDefinition(
        "depth",
        CronLine("*/5 * * * *", "Europe/Paris"),
        HttpTarget("https://example.com/depth", headers={"X-A": "1"}, success_statuses=(200, 404)),
        max_interval=timedelta(hours=1),
    )
    shell = EndpointDefinition("tidy", Every(MINUTE), ShellTarget(("sh", "-c", "rm -f /tmp/x*")))
    shop = JobDefinition("shop", "Watch the queue.\nScale early.\n", (web, shell))
    assert to_yaml([shop, JobDefinition("yes")]) == (
        "version: 1\n"
        "jobs:\n"
        "  - name: shop\n"
        "    description: |\n"
        "      Watch the queue.\n"
        "      Scale early.\n"
        "    endpoints:\n"
        "      - name: depth\n"
        "        cron: '*/5 * * * *'\n"
        "        timezone: Europe/Paris\n"
        "        max_interval: 1h\n"
        "        url: https://example.com/depth\n"
        "        headers:\n"
        "          X-A: '1'\n"
        "        success_statuses: [200, 404]\n"
        "      - name: tidy\n"
        "        every: 1m\n"
        "        command: [sh, -c, rm -f /tmp/x*]\n"
        "\n"
        "  - name: 'yes'\n"
    )


def test_no_jobs_are_a_file_too() -> None:
    assert read_back(to_yaml([])) == {"version": 1, "jobs": []}


def test_a_description_that_ends_with_empty_lines_does_not_end_the_file() -> None:
    definitions = [JobDefinition("one", "0\n0\n\n"), JobDefinition("two", "last\n\n\n")]
    written = read_back(to_yaml(definitions))
    assert [job["description"] for job in written["jobs"]] == ["0\n0\n\n", "last\n\n\n"]
