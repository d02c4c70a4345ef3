"""Commands come at once: they load what they need, and help tells the truth without loading any."""

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cadenza.cli.errors import ExitCode
from cadenza.cli.lazy import Later, loaded
from cadenza.roots.commands import COMMANDS
from cadenza.roots.main import app
from tests.cli.support import NEW_YEAR, Person

HEAVY = {
    "aiohttp", "asyncpg", "fastapi", "uvicorn", "uvloop", "pydantic_ai", "starlette",
    "pydantic_settings", "jinja2", "cryptography", "cel", "cronsim", "yaml",
}  # fmt: skip
PYTHON = (sys.executable, "-m", "cadenza.roots.main")
REFERENCE = Path(__file__).parent.parent.parent / "docs/reference/cli.md"


def _commands() -> Iterator[tuple[str, Any]]:
    """Every command by its whole name."""
    for name, later in COMMANDS.items():
        command = loaded(name, later)
        inner: dict[str, Any] | None = getattr(command, "commands", None)
        if inner is None or command.invoke_without_command:
            yield name, command
        lazy: dict[str, Later] = getattr(command, "later", {})
        inner = {**(inner or {}), **{own: loaded(own, lazy[own]) for own in lazy}}
        for own, command in inner.items():
            innermost: dict[str, Any] = getattr(command, "commands", {"": command})
            yield from ((f"{name} {own} {last}".strip(), one) for last, one in innermost.items())


def _about(command: Any) -> str:
    """The first paragraph of its help."""
    return " ".join((command.help or "").split("\n\n")[0].split())


def _environment(person: Person, **more: str) -> dict[str, str]:
    ours = {"CADENZA_API_URL": person.site.url, "CADENZA_API_KEY": person.key}
    return {**os.environ, **ours, **more}  # noqa: TID251


def test_commands_over_the_api_load_nothing_heavy(person: Person) -> None:
    script = "import sys, runpy; sys.argv = ['cadenza', *sys.argv[1:]]\n"
    script += "try: runpy.run_module('cadenza.roots.main', run_name='__main__')\n"
    script += "finally: print(*sys.modules, file=sys.stderr)"
    for arguments in (["jobs", "list"], ["--help"], ["endpoints", "create", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env=_environment(person),
            capture_output=True,
            text=True,
            check=True,
        )
        assert HEAVY.isdisjoint(done.stderr.split()), arguments


def test_a_command_takes_few_times_what_its_libraries_take_to_load(person: Person) -> None:
    """About half a second where that is a tenth; compared, because processors differ, and one that
    others use takes longer for the same."""
    libraries = [sys.executable, "-c", "import typer, rich.console, rich.table"]
    commands = ([*PYTHON, "jobs", "list"], libraries)
    command, bare = (min(_cpu_of(person, words) for _ in range(3)) for words in commands)
    assert command < 8 * bare


def _cpu_of(person: Person, words: list[str]) -> float:
    before = os.times()
    subprocess.run(words, env=_environment(person), check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    assert COMMANDS[name].help == _about(loaded(name, COMMANDS[name]))


def test_every_command_has_help_with_an_example() -> None:
    missing = [
        name
        for name, command in _commands()
        if f"cadenza {name}" not in (command.help or "") + (command.epilog or "")
    ]
    assert missing == []


def test_every_group_shows_an_example() -> None:
    missing: list[str] = []
    for name, later in COMMANDS.items():
        group = loaded(name, later)
        groups = {name: group} | {
            f"{name} {own}": inner for own, inner in getattr(group, "commands", {}).items()
        }
        missing += [
            name
            for name, one in groups.items()
            if getattr(one, "commands", None)
            and f"cadenza {name}" not in (one.help or "") + (one.epilog or "")
        ]
    assert missing == []


def test_help_breaks_where_the_terminal_does_not_where_the_source_does() -> None:
    broken = [name for name, command in _commands() if re.search(r"\S\n\S", command.help or "")]
    assert broken == []


def test_the_reference_lists_every_command_with_what_it_says_of_itself() -> None:
    rows = re.findall(r"^\| `cadenza ([a-z -]+)` \| (.*) \|$", REFERENCE.read_text(), re.MULTILINE)
    assert rows == [(name, _about(command)) for name, command in _commands()]


def test_the_reference_lists_every_exit_code() -> None:
    rows = re.findall(r"^\| (\d) \|", REFERENCE.read_text(), re.MULTILINE)
    assert [int(row) for row in rows] == list(ExitCode)


# --- A terminal -------------------------------------------------------------------------------


def _on_a_terminal(person: Person, *arguments: str, typed: str = "", **more: str) -> str:
    """What a person sees: stdin, stdout and stderr are one terminal."""
    environment = _environment(person, TERM="xterm-256color", COLUMNS="120", **more)
    mine, theirs = pty.openpty()
    with subprocess.Popen(
        [*PYTHON, *arguments], env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        seen = b""
        if typed:
            while b"[y/N]" not in seen:
                seen += os.read(mine, 4096)
            os.write(mine, typed.encode())
        try:
            while piece := os.read(mine, 4096):
                seen += piece
        except OSError:
            pass  # how a terminal says that nobody is there any more
    os.close(mine)
    return seen.decode()


def test_on_a_terminal_lists_are_tables_with_colours_unless_they_are_not_wanted(
    person: Person,
) -> None:
    person.queue()
    seen = _on_a_terminal(person, "endpoints", "list", NO_COLOR="")
    assert NEW_YEAR in seen
    assert "\x1b[1m" in seen
    plain = _on_a_terminal(person, "endpoints", "list", NO_COLOR="1")
    assert NEW_YEAR in plain
    assert not re.search(r"\x1b\[3\dm", plain)


def test_on_a_terminal_apply_asks_and_does_what_is_answered(person: Person, tmp_path: Path) -> None:
    (tmp_path / "cadenza.yaml").write_text("jobs: [{name: shop}]")
    seen = _on_a_terminal(person, "apply", typed="n\n")
    assert "+ job shop" in seen
    assert "Nothing was changed." in seen
    assert "Applied: 1 created." in _on_a_terminal(person, "apply", typed="y\n")
    assert [job["name"] for job in person.cadenza("jobs", "list").lines] == ["shop"]


# --- Completion -------------------------------------------------------------------------------


def _completed(person: Person, line: str, **more: str) -> set[str]:
    words = line.split(" ")
    environment = _environment(
        person,
        _CADENZA_COMPLETE="complete_bash",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
        **more,
    )
    script = "import sys; sys.argv = ['cadenza']; from cadenza.roots.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_names_are_completed_by_asking_the_server(person: Person) -> None:
    person.queue("shop/queue")
    person.queue("shop/report")
    assert _completed(person, "cadenza explain shop/q") == {"shop/queue"}
    assert _completed(person, "cadenza jobs show s") == {"shop"}
    assert {"pause", "preview"} <= _completed(person, "cadenza p")


def test_completion_is_silent_and_quick_where_there_is_no_server(person: Person) -> None:
    began = time.monotonic()
    away = {"CADENZA_API_URL": "http://127.0.0.1:1"}
    assert _completed(person, "cadenza explain shop/q", **away) == set()
    assert time.monotonic() - began < 60


def test_the_app_can_be_built_as_it_is() -> None:
    assert set(get_command(app).commands) == set(COMMANDS)  # type: ignore[attr-defined]


def test_a_reader_that_goes_away_is_no_error_to_shout_about(person: Person) -> None:
    person.queue()
    done = subprocess.run(
        f"{' '.join(PYTHON)} endpoints list | true",
        shell=True,
        env=_environment(person),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr


def test_json_of_a_list_is_one_object_a_line(person: Person) -> None:
    person.queue()
    done = subprocess.run(
        [*PYTHON, "endpoints", "list"],
        env=_environment(person),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["queue"]
