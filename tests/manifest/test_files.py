"""Files and folders, honest and hostile: definitions, or what is wrong and where."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.domain.target import HttpTarget, Secret
from cadenza.manifest.files import Manifest, read_manifest
from cadenza.manifest.text_loading import MAX_BYTES
from cadenza.manifest.yaml_loading import read_tree
from tests.manifest.policy import CHECKS

GOOD = """\
jobs:
  - name: shop
    endpoints:
      - name: depth
        every: 5m
        url: https://example.com/depth
"""
HUSH = "hush-hush-4711"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cadenza.yaml"


def read(file: Path, content: str | bytes = "", **environment: str) -> Manifest:
    data = content if isinstance(content, bytes) else content.encode()
    if data:
        file.write_bytes(data)
    return read_manifest(file, CHECKS, environment)


def messages(file: Path, content: str | bytes, **environment: str) -> list[str]:
    """Each problem, without the folder it is in."""
    manifest = read(file, content, **environment)
    return [str(problem).replace(f"{file.parent}/", "") for problem in manifest.problems]


def endpoint(*lines: str) -> str:
    """The good file with more lines; the first of them is line 7, and begins at column 9."""
    return GOOD + "".join(f"        {line}\n" for line in lines)


def values(text: str, loader: Any = yaml.CSafeLoader) -> Any:
    tree = read_tree("x", text, loader)
    assert tree.problems == []
    return tree.value


# --- Good files -----------------------------------------------------------------------------


def test_a_file_becomes_definitions(file: Path) -> None:
    manifest = read(file, GOOD)
    assert manifest.problems == []
    [job] = manifest.jobs
    assert (job.name, job.endpoints[0].name) == ("shop", "depth")


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_json_is_read_too_also_with_tabs_and_escaped_pairs(file: Path, indent: Any) -> None:
    description = 'a 😀 "b" \\ud83d / \n\t'
    document = {"version": 1, "jobs": [{"name": "x", "description": description}]}
    manifest = read(file, json.dumps(document, indent=indent))
    assert manifest.problems == []
    assert manifest.jobs[0].description == description


def test_a_byte_order_mark_is_no_part_of_the_text(file: Path) -> None:
    assert read(file, b"\xef\xbb\xbf" + GOOD.encode()).jobs[0].name == "shop"


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
def test_plain_words_are_what_yaml_1_2_says_they_are(loader: Any) -> None:
    text = """\
    text: [yes, no, on, off, y, 0x10, 0o7, 1_000, 2020-01-01, 12:30:45, =, nan, 1.2.3, <<]
    numbers: [0900, -5, +5, 1.5, 1e3, .5, 5.]
    others: [true, False, null, ~]
    on: "1"
    'null': "true"
    """
    assert values(text, loader) == {
        "text": [
            "yes", "no", "on", "off", "y", "0x10", "0o7", "1_000", "2020-01-01", "12:30:45", "=",
            "nan", "1.2.3", "<<",
        ],
        "numbers": [900, -5, 5, 1.5, 1000.0, 0.5, 5.0],
        "others": [True, False, None, None],
        "on": "1",
        "null": "true",
    }  # fmt: skip


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=20)
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=9), inner, max_size=3),
        max_leaves=8,
    ).filter(lambda drawn: drawn is not None),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)  # fmt: skip
def test_every_json_document_is_read_as_json_has_it(value: Any, indent: Any, ascii_: bool) -> None:
    text = json.dumps([value], indent=indent, ensure_ascii=ascii_)
    tree = read_tree("x", text)
    if re.search("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", text):
        assert tree.problems or tree.value == [value]
    else:
        assert (tree.problems, tree.value) == ([], [value])


# --- Locations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['cron: "61 * * * *"'], "cadenza.yaml:5:16: jobs[0].endpoints[0].every: every and cron"),
        (["zzz: 1"], "cadenza.yaml:7:9: jobs[0].endpoints[0].zzz: 1 is not valid: there is no"),
        (["tiemout: 1s"], "cadenza.yaml:7:9: jobs[0].endpoints[0].tiemout: '1s' is not valid: "
         "there is no such field; did you mean timeout?"),
        (["timeout: 2h"], "cadenza.yaml:7:18: jobs[0].endpoints[0].timeout: '2 h'"),
        (["timeout_ms: 7200000"], "cadenza.yaml:7:21: jobs[0].endpoints[0].timeout: '2 h'"),
        (["headers:", '  "": x'], "cadenza.yaml:8:11: jobs[0].endpoints[0].headers: ''"),
        (["headers: {A: 1}"], "cadenza.yaml:7:22: jobs[0].endpoints[0].headers.A: 1 is not valid"),
        (["headers: {Host: x}"], "cadenza.yaml:7:18: jobs[0].endpoints[0].headers: 'Host'"),
        (['success_when: "x =="'], "cadenza.yaml:7:23: jobs[0].endpoints[0].success_when: 'x =='"),
        (['success_when: "foo"'], "cadenza.yaml:7:23: jobs[0].endpoints[0].success_when: 'foo'"),
        (["success_statuses: [200,", "  9]"], "cadenza.yaml:8:11: jobs[0].endpoints[0].success_st"),
    ],
)  # fmt: skip
def test_an_error_says_file_line_column_field_and_value(
    file: Path, lines: list[str], expected: str
) -> None:
    [problem] = messages(file, endpoint(*lines))
    assert problem.startswith(expected)


def test_a_zone_and_an_address_and_a_missing_field_have_their_places(file: Path) -> None:
    text = GOOD.replace("every: 5m", "cron: '@daily'\n        timezone: Europe/Pari")
    [zone] = messages(file, text)
    assert zone.startswith("cadenza.yaml:6:19: jobs[0].endpoints[0].timezone: 'Europe/Pari'")
    assert "did you mean Europe/Paris?" in zone
    [url] = messages(file, GOOD.replace("https", "ftp"))
    assert url.startswith("cadenza.yaml:6:14: jobs[0].endpoints[0].url: 'ftp://")
    [name] = messages(file, GOOD.replace("- name: depth\n        ", "- "))
    assert name.startswith("cadenza.yaml:4:9: jobs[0].endpoints[0].name: nothing is not valid")


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_file(file: Path) -> None:
    bad = GOOD.replace("5m", "5x").replace("https", "ftp").replace("shop", "a/b")
    more = "      - {name: two, cron: x, url: 7, min_interval: 2h, max_interval: 1h}\n  - {}\n"
    fields = [problem.field for problem in read(file, bad + more).problems]
    assert fields == [
        "jobs[0].name",
        "jobs[0].endpoints[0].every",
        "jobs[0].endpoints[0].url",
        "jobs[0].endpoints[1].cron",
        "jobs[0].endpoints[1].url",
        "jobs[0].endpoints[1].min_interval",
        "jobs[1].name",
    ]


def test_warnings_have_places_and_do_not_stand_in_the_way(file: Path) -> None:
    manifest = read(file, endpoint("min_interval: 10m"))
    assert manifest.problems == []
    assert len(manifest.jobs) == 1
    [warning] = manifest.warnings
    assert "4:9: jobs[0].endpoints[0]: min_interval 10 min is longer" in str(warning)


# --- Hostile YAML ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jobs: &a []\n", "1:7: jobs: an anchor (&a)"),
        ("jobs: *a\n", "1:7: jobs: an alias (*a)"),
        ("jobs: !!python/object/apply:os.system [ls]\n", "1:7: jobs: a tag (tag:yaml.org,2002:py"),
        ("jobs: !mine []\n", "1:7: jobs: a tag (!mine)"),
        ("jobs: !!str []\n", "1:7: jobs: a tag"),
        ("# a\n%TAG !a! x\n---\njobs: []\n", "2:1: a line that begins with %TAG"),
        ("jobs: []\n...\n%TAG !a! x\n--- a\n", "3:1: a line that begins with %TAG"),
        ("jobs: []\njobs: []\n", "2:1: jobs: given twice; the first is in line 1"),
        ("1: x\njobs: []\n", "1:1: the name '1' is not text: put it in quotes"),
        ("null: x\njobs: []\n", "1:1: the name 'null' is not text"),
        ("true: x\njobs: []\n", "1:1: the name 'true' is not text"),
        ("? [a]\n: x\njobs: []\n", "1:3: a name cannot be a list or an object"),
        ("jobs:\n\t- name: x\n", "2:1: it cannot be read: found character that cannot start any "),
        ("jobs: .nan\n", "1:7: jobs: '.nan' is not valid: NaN and infinity are not allowed"),
        ("jobs: -.INF\n", "1:7: jobs: '-.INF' is not valid"),
        ("jobs: 1e999\n", "1:7: jobs: '1e999' is not valid: it is too large"),
        (f"jobs: {'9' * 5000}\n", "1:7: jobs: '99999"),
        ("jobs: []\n---\njobs: []\n", "2:1: a second document: put it into its own file"),
        ("jobs: [\n", "2:1: it cannot be read"),
        ("jobs: a: b\n", "1:8: it cannot be read"),
        ("jobs: */5 * * * *\n", "1:8: it cannot be read"),
        ("jobs: @daily\n", "1:7: it cannot be read"),
        ("- jobs\n", "1:1: (the whole): what is there is not valid: it must be an object"),
        ("jobs\n", "1:1: (the whole): what is there is not valid: it must be an object"),
        ("{}\n", "1:1: jobs: nothing is not valid: it is required"),
        ("jobs: 2020-01-01\n", "1:7: jobs: '2020-01-01' is not valid: it must be a list"),
        ("\n", "1:1: it is empty"),
        ("# nothing\n", "1:1: it is empty"),
        ("null\n", "1:1: it is empty"),
    ],
)
def test_a_trick_or_a_slip_is_refused_with_its_place(file: Path, text: str, expected: str) -> None:
    assert messages(file, text)[0].startswith(f"cadenza.yaml:{expected}")


def test_what_was_told_once_is_not_told_again(file: Path) -> None:
    for text in ("jobs: .nan\n", "x: 1\njobs: &a 5\n", "jobs: *a\n"):
        assert sum("jobs" in message for message in messages(file, text)) == 1


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("jobs: */5 * * * *\n", '"*/5 * * * *"'),
        ("jobs: @daily\n", '"@daily"'),
        ("jobs:\n\t- x\n", "not with tabs"),
        ("a: b: c\n", "quotes"),
        ("a: %x\n", "quotes"),
        ("a: [1\n", "brackets"),
    ],
)
def test_a_slip_comes_with_advice(file: Path, text: str, advice: str) -> None:
    assert advice in messages(file, text)[-1]


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\u2029"])
def test_a_line_end_that_is_none_to_others_is_refused_unless_it_is_escaped(
    file: Path, char: str
) -> None:
    [problem] = messages(file, f'jobs:\n  - name: "a{char}b"\n')
    assert problem.startswith(f"cadenza.yaml:2:13: U+{ord(char):04X} ends a line to some")
    assert values(f'a: "x\\u{ord(char):04x}y"') == {"a": f"x{char}y"}


@pytest.mark.parametrize("opened", ["[", "- ", "{a: ", "? "])
def test_deep_nesting_ends_early(file: Path, opened: str) -> None:
    [problem] = messages(file, opened * 100_000)
    assert "nested deeper than 40 levels" in problem


def test_directives_are_refused_before_each_is_compared_with_all_others(file: Path) -> None:
    """libyaml compares in one call, in which nobody else gets on: 10 MB would take an hour."""
    text = "".join(f"%TAG !{number}! x\n" for number in range(600_000))
    [problem] = messages(file, text)
    assert problem.startswith("cadenza.yaml:1:1: a line that begins with %TAG")


def test_an_alias_bomb_does_not_grow(file: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    problems = messages(file, "\n".join(lines))
    assert "an anchor (&a0)" in problems[0]


def test_more_values_than_anybody_writes_are_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cadenza.manifest.yaml_loading.MAX_VALUES", 1000)
    [problem] = messages(file, "jobs: [" + "1," * 2000 + "]")
    assert "more than 1,000 values" in problem


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
def test_both_parsers_give_the_same_places(loader: Any) -> None:
    tree = read_tree("x", "é: [1, 'é', {ü: ä}]\n", loader)
    assert tree.value == {"é": [1, "é", {"ü": "ä"}]}
    assert str(tree.location_of("é[2].ü")) == "x:1:17"
    assert str(tree.location_of("é[2].ü", of_key=True)) == "x:1:14"


@settings(deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_whatever_a_file_holds_it_is_read_or_refused(text: str) -> None:
    tree = read_tree("x", text)
    assert all(str(problem).startswith("x:") for problem in tree.problems)


# --- Bytes, files, folders ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"jobs: \xff\n", "cadenza.yaml:1:7: the byte 0xFF is not UTF-8"),
        ("é: x\njobs: é".encode("latin-1"), "cadenza.yaml:1:1: the byte 0xE9 is not UTF-8"),
        (GOOD.encode("utf-16"), "cadenza.yaml: it is UTF-16: save it as UTF-8"),
        (b"jobs:\n  \0\n", "cadenza.yaml:2:3: the character U+0000 is not allowed"),
        (b"\x7fELF\x02\x01\x01\0", "cadenza.yaml:1:1: the character U+007F is not allowed"),
        (b"x" * (MAX_BYTES + 1), "cadenza.yaml: too large: 10 MiB in all are the most"),
    ],
)
def test_what_is_no_text_is_refused(file: Path, content: bytes, expected: str) -> None:
    [problem] = messages(file, content)
    assert problem.startswith(expected)


def test_a_file_that_is_not_there_or_cannot_be_read_is_told_by_name(tmp_path: Path) -> None:
    [missing] = read(tmp_path / "nope.yaml").problems
    assert "nope.yaml: there is no such file or folder" in str(missing)
    empty = tmp_path / "empty.yaml"
    empty.touch()
    assert "empty.yaml:1:1: it is empty" in str(read(empty).problems[0])
    assert "inner.yaml: it cannot be read" in str(read(empty / "inner.yaml").problems[0])


def job(name: str) -> str:
    return GOOD.replace("shop", name)


def test_a_folder_is_read_in_the_order_of_its_names_and_hidden_files_are_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for path, name in {
        "b.yaml": "two", "a.yml": "one", "sub/deep/c.YAML": "three", ".hidden.yaml": "x",
        ".git/d.yaml": "x", "notes.txt": "x", "a.yaml.bak": "x",
    }.items():  # fmt: skip
        (tmp_path / path).write_text(job(name))
    (tmp_path / "loop").symlink_to(tmp_path)
    manifest = read_manifest(tmp_path, CHECKS, {})
    assert manifest.problems == []
    assert [job.name for job in manifest.jobs] == ["one", "two", "three"]


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    [problem] = read_manifest(tmp_path, CHECKS, {}).problems
    assert "no file in it ends in .yaml or .yml" in str(problem)


def test_the_same_job_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(job("one"))
    (tmp_path / "b.yaml").write_text("# more\n" + job("one"))
    [problem] = read_manifest(tmp_path, CHECKS, {}).problems
    assert str(problem).startswith(f"{tmp_path}/b.yaml:3:11: jobs[0].name: 'one'")
    assert f"another job has it, at {tmp_path}/a.yaml:2:11" in str(problem)


def test_the_same_job_twice_in_a_file_and_the_same_endpoint_twice_in_a_job(file: Path) -> None:
    [twice] = messages(file, GOOD + "  - name: shop\n")
    assert "cadenza.yaml:7:11: jobs[1].name: 'shop'" in twice
    assert "another job has it: jobs[0]" in twice
    again = "      - {name: depth, every: 5m, url: https://example.com/}\n"
    [twice] = messages(file, GOOD + again)
    assert twice.startswith("cadenza.yaml:7:16: jobs[0].endpoints[1].name: 'depth'")
    assert "jobs[0].endpoints[0]" in twice


def test_one_bad_file_does_not_hide_what_is_wrong_in_another(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("jobs: [\n")
    (tmp_path / "b.yaml").write_bytes(b"\0")
    (tmp_path / "c.yaml").write_text(GOOD.replace("5m", "5x"))
    problems = read_manifest(tmp_path, CHECKS, {}).problems
    assert [Path(problem.location.file).name for problem in problems] == [
        "a.yaml",
        "b.yaml",
        "c.yaml",
    ]


def test_a_file_with_endless_mistakes_is_given_up(file: Path) -> None:
    assert len(messages(file, "jobs:\n" + "- &a x\n" * 3000)) < 2010
    assert (
        len(messages(file, "jobs:\n- {name: x, endpoints: [" + "{name: a/b}," * 3000 + "]}"))
        <= 1000
    )
    assert "too many problems" in "".join(messages(file, "1: x\n" * 3000))


def test_all_files_together_may_not_be_too_large(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(job(name) + "#" * (MAX_BYTES * 2 // 3))
    [problem] = read_manifest(tmp_path, CHECKS, {}).problems
    assert "b.yaml: too large" in str(problem)


# --- Secrets from the environment -----------------------------------------------------------


def secret(manifest: Manifest) -> Secret:
    target = manifest.jobs[0].endpoints[0].target
    assert isinstance(target, HttpTarget)
    return target.secret_headers["Key"]


def test_a_secret_comes_from_the_environment(file: Path) -> None:
    manifest = read(file, endpoint("secret_headers: {Key: '${TOKEN}'}"), TOKEN=HUSH)
    assert secret(manifest) == Secret(HUSH)
    assert manifest.warnings == []


@pytest.mark.parametrize("environment", [{}, {"TOKEN": ""}, {"TOKEN": " "}, {"token": "x"}])
def test_a_variable_that_is_missing_or_empty_is_told_with_its_place(
    file: Path, environment: dict[str, str]
) -> None:
    text = endpoint("secret_headers:", "  Key: ${TOKEN}")
    [problem] = messages(file, text, **environment)
    assert problem.startswith("cadenza.yaml:8:16: jobs[0].endpoints[0].secret_headers.Key")
    assert "the environment variable TOKEN is not set" in problem


@pytest.mark.parametrize(
    "written", ["Bearer ${TOKEN}", "${TOKEN} ", "$TOKEN", "$${TOKEN}", "${TO KEN}", "${}", "${1A}"]
)
def test_nothing_but_the_whole_form_is_expanded(file: Path, written: str) -> None:
    manifest = read(file, endpoint(f"secret_headers: {{Key: {written!r}}}"), TOKEN=HUSH)
    assert secret(manifest) == Secret(written)
    assert len(manifest.warnings) == 1


def test_nothing_but_secret_headers_is_expanded(file: Path) -> None:
    manifest = read(file, endpoint("headers: {A: '${TOKEN}'}", "body: ${TOKEN}"), TOKEN=HUSH)
    assert HUSH not in repr(manifest)


def test_a_secret_that_was_expanded_is_never_shown_when_it_is_wrong(file: Path) -> None:
    text = endpoint("secret_headers: {Key: '${TOKEN}'}")
    [problem] = messages(file, text, TOKEN=f"{HUSH}\n")
    assert "secret_headers.Key" in problem
    assert HUSH not in problem


def test_a_secret_that_looks_like_a_number_is_not_shown_either(file: Path) -> None:
    [problem] = messages(file, endpoint(f"secret_headers: {{Key: {'4711' * 100}}}"))
    assert "put it in quotes" in problem
    assert "4711" not in problem


def test_a_secret_in_the_file_is_warned_of_without_showing_it(file: Path) -> None:
    [warning] = read(file, endpoint(f"secret_headers: {{Key: {HUSH}}}")).warnings
    assert "write ${NAME} and set the variable" in str(warning)
    assert HUSH not in str(warning)


def test_without_an_environment_secrets_stay_as_they_are_written(file: Path) -> None:
    file.write_text(endpoint("secret_headers: {Key: '${TOKEN}'}"))
    assert secret(read_manifest(file, CHECKS, None)) == Secret("${TOKEN}")
