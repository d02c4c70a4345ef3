"""The commands that need no server, as people call them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from typer.testing import CliRunner, Result

from cadenza.cli.errors import CommandError, ExitCode
from cadenza.domain.errors import CadenzaError
from cadenza.manifest.models import manifest_schema
from cadenza.roots.main import app

ROOT = Path(__file__).parents[2]
GOOD = """\
jobs:
  - name: shop
    endpoints:
      - name: depth
        every: 5m
        url: https://example.com/depth
"""


def cadenza(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=stdin)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cadenza.yaml"
    path.write_text(GOOD)
    return path


# --- validate -------------------------------------------------------------------------------


def test_a_good_file_is_valid(file: Path) -> None:
    result = cadenza("validate", "-f", str(file))
    assert result.exit_code == 0
    assert result.stdout == "Valid: 1 job, 1 endpoint.\n"


def test_a_folder_is_validated_and_the_file_has_a_usual_name(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cadenza("validate", "-f", str(file.parent)).exit_code == 0
    monkeypatch.chdir(file.parent)
    assert cadenza("validate").exit_code == 0


def test_the_file_is_an_argument_or_an_option_and_not_both(file: Path) -> None:
    assert cadenza("validate", str(file)).stdout == "Valid: 1 job, 1 endpoint.\n"
    both = cadenza("validate", str(file), "-f", "other.yaml")
    assert isinstance(both.exception, CommandError)
    assert both.exception.exit_code is ExitCode.USAGE
    assert "Give one of them" in str(both.exception)


def test_a_bad_file_ends_with_1_and_says_where(file: Path) -> None:
    file.write_text(GOOD.replace("5m", "5x").replace("https", "ftp"))
    result = cadenza("validate", "-f", str(file))
    assert result.exit_code == 1
    assert result.stdout == ""
    first, second, last = result.stderr.splitlines()
    assert first.startswith(f"{file}:5:16: jobs[0].endpoints[0].every: '5x' is not valid: write")
    assert second.startswith(f"{file}:6:14: jobs[0].endpoints[0].url")
    assert last == "2 problems; nothing would be applied."


def test_json_says_the_same_to_programs(file: Path) -> None:
    good = cadenza("validate", "-f", str(file), "--json")
    assert json.loads(good.stdout) == {
        "ok": True, "files": [str(file)], "jobs": 1, "endpoints": 1, "schedules": 0,
        "problems": [], "warnings": [],
    }  # fmt: skip
    file.write_text(GOOD.replace("5m", "5x") + "        min_interval: 10m\n")
    bad = cadenza("validate", "-f", str(file), "--json")
    assert bad.exit_code == 1
    [problem] = json.loads(bad.stdout)["problems"]
    assert problem["line"] == 5
    assert problem["column"] == 16
    assert problem["field"] == "jobs[0].endpoints[0].every"
    assert problem["file"] == str(file)


def test_a_warning_is_no_problem(file: Path) -> None:
    file.write_text(GOOD + "        min_interval: 10m\n")
    result = cadenza("validate", "-f", str(file))
    assert result.exit_code == 0
    assert f"{file}:4:9: warning: jobs[0].endpoints[0]: min_interval" in result.stderr


def test_secrets_are_looked_for_only_when_asked(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(GOOD + "        secret_headers: {Key: '${NOT_SET_ANYWHERE}'}\n")
    assert cadenza("validate", "-f", str(file)).exit_code == 0
    result = cadenza("validate", "-f", str(file), "--secrets")
    assert result.exit_code == 1
    assert "NOT_SET_ANYWHERE" in result.stderr
    monkeypatch.setenv("NOT_SET_ANYWHERE", "hush")
    assert cadenza("validate", "-f", str(file), "--secrets").exit_code == 0


def test_what_is_not_there_ends_with_1_and_advice(tmp_path: Path) -> None:
    result = cadenza("validate", "-f", str(tmp_path / "nope"))
    assert result.exit_code == 1
    assert "there is no such file or folder" in result.stderr


def test_expressions_know_status_and_body_and_nothing_else(file: Path) -> None:
    file.write_text(GOOD + "        success_when: status == 200 && body.ok\n")
    assert cadenza("validate", "-f", str(file)).exit_code == 0
    file.write_text(GOOD + "        success_when: headers.ok\n")
    assert "it knows no 'headers'" in cadenza("validate", "-f", str(file)).stderr


def test_a_dash_reads_stdin_in_the_real_program() -> None:
    command = [sys.executable, "-m", "cadenza.roots.main", "validate", "-f", "-"]
    run = subprocess.run(command, input=GOOD, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "Valid: 1 job, 1 endpoint.\n")


# Root may read everything: it gives that up, for good, before it becomes the command.
UNPRIVILEGED = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
if os.geteuid() == 0:
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            sys.exit("root could not give up its right to read everything")
os.execv(sys.executable, [sys.executable, "-m", "cadenza.roots.main", *sys.argv[1:]])
"""


@pytest.mark.parametrize("what", ["file", "folder", "file in a folder"])
def test_what_may_not_be_read_is_told_by_name_with_the_fix(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    file = folder / "shop.yaml"
    file.write_text(GOOD)
    asked = file if what == "file" else folder
    command = [sys.executable, "-c", UNPRIVILEGED, "validate", "-f", str(asked)]
    closed = folder if what == "folder" else file
    before = subprocess.run(command, capture_output=True, text=True, check=False)
    assert before.returncode == 0, before.stderr
    mode = closed.stat().st_mode
    closed.chmod(0)
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        closed.chmod(mode)  # or nobody could take it away
    assert (run.returncode, run.stdout) == (1, "")
    assert f"{closed}: it may not be read; check who owns it and its permissions" in run.stderr
    assert "Traceback" not in run.stderr


# --- schema ---------------------------------------------------------------------------------


def test_the_committed_schema_is_that_of_the_code() -> None:
    committed = (ROOT / "docs/reference/cadenza.schema.json").read_text()
    assert committed == cadenza("schema").stdout, (
        "cadenza schema > docs/reference/cadenza.schema.json"
    )


def test_the_schema_is_one() -> None:
    assert jsonschema_rs.meta.is_valid(manifest_schema())


@pytest.mark.parametrize(
    ("lines", "valid"),
    [
        ("", True),
        ("timeout: 10s\nheaders: {A: b}\nsuccess_statuses: [200]", True),
        ("min_interval: 5000\nbody: {a: [1, null]}", True),
        ("zzz: 1", False),
        ("method: get", False),
        ("success_statuses: [99]", False),
        ("headers: {A: 1}", False),
        ("timeout_ms: '5'", False),
    ],
)
def test_the_schema_accepts_what_the_door_does(lines: str, valid: bool) -> None:
    text = GOOD + "".join(f"        {line}\n" for line in lines.splitlines())
    document: Any = yaml.safe_load(text)
    assert jsonschema_rs.validator_for(manifest_schema()).is_valid(document) is valid


# --- import crontab -------------------------------------------------------------------------

CRONTAB = "# Backs up.\n0 3 * * * /usr/bin/backup\n@reboot x\n"


@pytest.fixture
def crontab(tmp_path: Path) -> Path:
    path = tmp_path / "crontab"
    path.write_text(CRONTAB)
    return path


def test_a_crontab_becomes_a_file_that_is_valid(crontab: Path, tmp_path: Path) -> None:
    output = tmp_path / "new.yaml"
    result = cadenza(
        "import", "crontab", str(crontab), "--timezone", "Europe/Paris", "-o", str(output)
    )
    assert result.exit_code == 0
    assert f"Wrote 1 job to {output}" in result.stdout
    assert "line 3: @reboot" in result.stderr
    assert "# - line 3: @reboot" in output.read_text()
    valid = cadenza("validate", "-f", str(output))
    assert (valid.exit_code, valid.stderr) == (0, "")


def test_without_an_output_the_file_goes_to_stdout_and_notes_do_not(crontab: Path) -> None:
    result = cadenza("import", "crontab", str(crontab))
    assert yaml.safe_load(result.stdout)["jobs"][0]["name"] == "backup"
    assert "times are taken as UTC" in result.stderr


def test_an_output_is_not_overwritten_unasked(crontab: Path, tmp_path: Path) -> None:
    output = tmp_path / "new.yaml"
    output.write_text("mine")
    words = ("import", "crontab", str(crontab), "-o", str(output))
    refused = cadenza(*words)
    assert isinstance(refused.exception, CadenzaError)
    assert "--force" in str(refused.exception)
    assert output.read_text() == "mine"
    assert cadenza(*words, "--force").exit_code == 0
    assert "backup" in output.read_text()


def test_notes_as_json(crontab: Path) -> None:
    result = json.loads(cadenza("import", "crontab", str(crontab), "--json").stdout)
    assert result["jobs"] == 1
    assert result["notes"][0]["line"] == 3
    assert yaml.safe_load(result["file"])["jobs"][0]["description"] == "Backs up."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "no such file"),
        (["{crontab}", "--timezone", "Europe/Pari"], "did you mean Europe/Paris?"),
        (["{crontab}", "-o", "/nowhere/x.yaml"], "could not be written"),
    ],
)
def test_what_goes_wrong_is_told_in_one_message(
    crontab: Path, words: list[str], message: str
) -> None:
    arguments = [word.format(crontab=crontab) for word in words]
    result = cadenza("import", "crontab", *arguments)
    assert result.exit_code == 1
    assert isinstance(result.exception, CadenzaError)
    assert message in str(result.exception)


def test_a_crontab_with_nothing_to_take_over_ends_with_1(crontab: Path) -> None:
    crontab.write_text("@reboot x\n")
    assert cadenza("import", "crontab", str(crontab)).exit_code == 1


@pytest.mark.parametrize("words", [["validate"], ["schema"], ["import", "crontab"]])
def test_every_command_has_help_with_an_example(words: list[str]) -> None:
    text = re.sub(r"\s+", " ", cadenza(*words, "--help").stdout)
    assert f"Example: {'crontab -l | ' if words[-1] == 'crontab' else ''}cadenza {words[0]}" in text


def test_the_file_in_the_documentation_is_valid(file: Path) -> None:
    text = (ROOT / "docs/how-to/schedules-as-code.md").read_text()
    [example] = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    file.write_text(example)
    result = cadenza("validate", "-f", str(file))
    assert (result.exit_code, result.stderr) == (0, "")
