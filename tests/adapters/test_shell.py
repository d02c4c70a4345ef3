"""Commands: real processes, on both event loops; whatever they do, nothing of them is left."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop

from cadenza.adapters.shell import process as process_module
from cadenza.adapters.shell.dispatcher import (
    MAX_OUTPUT,
    ShellDispatcher,
    ShellRules,
    allowed_environment,
)
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.domain.errors import InstallationError
from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import ShellTarget
from tests.factories import make_claim, make_endpoint, seconds

T = TypeVar("T")
PATIENCE = seconds(0.3)
LONG = seconds(30)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Iterator[Callable[[Coroutine[Any, Any, T]], T]]:
    """Runs a coroutine on this kind of loop; afterwards no process and no descriptor is left."""
    with asyncio.Runner(loop_factory=request.param) as runner:
        runner.run(asyncio.sleep(0))
        before = children(), open_descriptors()
        yield runner.run
        assert (children(), open_descriptors()) == before


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> set[int]:
    """Our child processes, zombies too; a server that other tests use may be among them."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def claim_of(*command: str, name: str = "command", **fields: Any) -> Claim:
    target = ShellTarget(command, **{"timeout": LONG, **fields})
    return make_claim(make_endpoint(name), target=target)


def dispatcher(*folders: Path, **rules: Any) -> ShellDispatcher:
    return ShellDispatcher(ShellRules(folders=folders, **{"patience": PATIENCE, **rules}))


async def dispatched(*command: str, **fields: Any) -> Outcome:
    return await dispatcher().dispatch(claim_of(*command, **fields))


def script(text: str) -> tuple[str, str, str]:
    return ("sh", "-c", text)


def alive(claim: Claim) -> list[int]:
    """Every process that was started for this claim: they all inherit its key."""
    mark = f"CADENZA_IDEMPOTENCY_KEY={claim.idempotency_key}".encode()
    processes: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes():
                processes.append(int(folder.name))
        except OSError:
            continue
    return processes


def until(condition: Callable[[], bool], within: float = 60) -> bool:
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def soon(condition: Callable[[], Any], within: float = 60) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)


Run = Callable[[Awaitable[Any]], Any]


# --- Answers --------------------------------------------------------------------------------


def test_exit_code_zero_is_success_and_the_output_is_the_answer(run: Run) -> None:
    assert run(dispatched("echo", "hello")) == Outcome(
        RunStatus.SUCCESS, status_code=0, body="hello\n"
    )
    assert run(dispatched("true")) == Outcome(RunStatus.SUCCESS, status_code=0)


def test_json_is_kept_as_json(run: Run) -> None:
    body = {"orders": [1, 2.5, None, True, "ü"]}
    assert run(dispatched("printf", "%s", json.dumps(body))).body == body
    assert run(dispatched("echo", "42")).body == 42


@pytest.mark.parametrize(
    "text",
    ["NaN", "[Infinity]", "{", '{"a":1} more', "[" * 50_000, "1" * 5000, "\ufeff{}"],
    ids=["NaN", "infinity", "half", "more", "deep", "digits", "bom"],
)
def test_what_is_not_quite_json_is_kept_as_text(run: Run, text: str, tmp_path: Path) -> None:
    (tmp_path / "said").write_text(text)
    assert run(dispatched("cat", str(tmp_path / "said"))).body == text


def test_bytes_that_are_no_text_are_shown_as_far_as_they_are(run: Run) -> None:
    outcome = run(dispatched("printf", r"a\000b\377\376\200 \303\274"))
    assert outcome.status is RunStatus.SUCCESS
    assert outcome.body == "a\0b\ufffd\ufffd\ufffd ü"
    noise = run(dispatched("head", "-c", "5000", "/dev/urandom"))
    assert noise.status is RunStatus.SUCCESS


def test_another_exit_code_is_a_failure_that_quotes_stderr(run: Run) -> None:
    outcome = run(dispatched(*script("echo '{\"done\": 3}'; echo no disk >&2; exit 3")))
    assert outcome == Outcome(
        RunStatus.FAILURE, "exit", "exit code 3: no disk", status_code=3, body={"done": 3}
    )
    assert run(dispatched("false")).error_message == "exit code 1"


def test_of_a_long_stderr_the_end_is_quoted(run: Run) -> None:
    outcome = run(dispatched(*script("seq 1 5000 >&2; echo the reason >&2; exit 1")))
    assert outcome.error_message is not None
    assert outcome.error_message.endswith("the reason")
    assert len(outcome.error_message) < 2100


def test_a_program_that_crashed_says_by_which_signal(run: Run) -> None:
    outcome = run(dispatched(*script("kill -SEGV $$")))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "exit")
    assert outcome.error_message == "ended by SIGSEGV"
    assert outcome.status_code == 128 + signal.SIGSEGV


def test_stderr_of_a_success_is_nobodys_business(run: Run) -> None:
    outcome = run(dispatched(*script("echo warning >&2; echo fine")))
    assert outcome == Outcome(RunStatus.SUCCESS, status_code=0, body="fine\n")


# --- What a command is given ----------------------------------------------------------------


def test_arguments_are_given_as_they_are_and_no_shell_reads_them(run: Run) -> None:
    nasty = ("$HOME", "`id`", "; rm -rf /", "a b", "*", "'\"", "", "\n", "ü€😀", "-n", "|", "$(id)")
    outcome = run(dispatched("printf", r"%s\037", *nasty))
    assert isinstance(outcome.body, str)
    assert tuple(outcome.body.split("\x1f")[:-1]) == nasty


def test_the_environment_holds_what_was_allowed_and_nothing_else(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CADENZA_MASTER_KEY", "hunter2")
    monkeypatch.setenv("LANG_OF_TEST", "de")
    monkeypatch.setenv("AWS_SECRET", "hunter2")
    environment = allowed_environment(["LANG_OF_TEST", "NOT_SET", ""], os.environ)  # noqa: TID251
    claim = replace(claim_of("env"), attempt=2)
    body = run(dispatcher(environment=environment).dispatch(claim)).body
    variables = dict(line.split("=", 1) for line in body.splitlines())
    assert variables == {
        "PATH": ShellRules().path,
        "LANG_OF_TEST": "de",
        "CADENZA_IDEMPOTENCY_KEY": claim.idempotency_key,
        "CADENZA_ATTEMPT": "2",
        "CADENZA_SLOT": "2026-03-02T12:00:00Z",
    }


@pytest.mark.parametrize("name", ["CADENZA_MASTER_KEY", "CADENZA_DATABASE_URL", "A=B", "NUL\0"])
def test_settings_of_cadenza_cannot_be_allowed(name: str) -> None:
    with pytest.raises(InstallationError, match="Commands cannot be given"):
        allowed_environment(["HOME", name], {name: "hunter2"})


def test_a_command_gets_no_descriptor_of_ours_and_no_input(run: Run, tmp_path: Path) -> None:
    descriptors = os.open(tmp_path / "secret", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(descriptors, True)
    try:
        outcome = run(dispatched("ls", "/proc/self/fd"))
        assert outcome.body.split() == ["0", "1", "2", "3"]  # 3 is the listed folder itself
        assert run(dispatched("cat")) == Outcome(RunStatus.SUCCESS, status_code=0)
    finally:
        os.close(descriptors)


def test_a_command_leads_a_session_of_its_own(run: Run) -> None:
    outcome = run(dispatched(*script("ps -o sid= -p $$ || cut -d' ' -f6 /proc/$$/stat; echo $$")))
    session, pid = outcome.body.split()
    assert session == pid


# --- Where it works -------------------------------------------------------------------------


def test_the_working_folder_is_the_one_that_was_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    shell = dispatcher(tmp_path)
    asked: list[tuple[str | None, Path]] = [
        (None, tmp_path),
        ("", tmp_path),
        ("a b", tmp_path / "a b"),
        (str(tmp_path / "a b"), tmp_path / "a b"),
        ("a b/../a b", tmp_path / "a b"),
    ]
    for folder, expected in asked:
        outcome = run(shell.dispatch(claim_of("pwd", folder=folder)))
        assert outcome.body == f"{expected}\n", folder
    assert run(dispatched("pwd")).body == "/\n"


def test_no_way_leads_out_of_the_allowed_folders(run: Run, tmp_path: Path) -> None:
    inside, sibling = tmp_path / "in", tmp_path / "inside out"
    inside.mkdir()
    sibling.mkdir()
    (inside / "link").symlink_to("/etc")
    (inside / "loop").symlink_to(inside / "loop")
    (inside / "file").write_text("")
    refused = {
        "/etc": "not_allowed",
        "..": "not_allowed",
        "../inside out": "not_allowed",
        "link": "not_allowed",
        "/": "not_allowed",
        "loop": "not_started",
        "missing": "not_started",
        "file": "not_started",
        "nul\0": "not_started",
        "x" * 5000: "not_started",
        "\udcff\ud800": "not_started",
    }
    for folder, kind in refused.items():
        outcome = run(dispatcher(inside).dispatch(claim_of("pwd", folder=folder)))
        assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, kind), folder
        assert outcome.error_message
    outcome = run(dispatched("pwd", folder="/tmp"))
    assert (outcome.error_kind, outcome.error_message) == (
        "not_allowed",
        "the installation's admin allows commands no working folder",
    )


# --- What cannot be started -----------------------------------------------------------------


def test_a_program_that_is_not_there_is_a_failure_that_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text")
    (tmp_path / "orphan").write_text("#!/no/such/interpreter\n")
    (tmp_path / "orphan").chmod(0o755)
    (tmp_path / "garbage").write_bytes(b"\x7fELF\0\0\0")
    (tmp_path / "garbage").chmod(0o755)
    shell = dispatcher(tmp_path)
    for program, why in {
        "no-such-program": "there is no program 'no-such-program' in /usr/local/bin",
        "/no/such/program": "there is no program",
        "./plain": "is not executable: chmod +x",
        "./orphan": "the program in its first line may be missing",
        "./garbage": "cannot be started: Exec format error",
        str(tmp_path): "there is no program",
        "": "the command is empty",
        "nul\0": "there is no program",
        "./nul\0": "there is no program",
        "/" + "x" * 300: "cannot be started: File name too long",
    }.items():
        outcome = run(shell.dispatch(claim_of(program)))
        assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "not_started"), program
        assert why in (outcome.error_message or ""), program
    empty = run(shell.dispatch(replace(claim_of("x"), target=ShellTarget(()))))
    assert empty.error_message == "the command is empty"


def test_a_script_in_the_folder_runs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hello").write_text("#!/bin/sh\necho hello from $PWD\n")
    (tmp_path / "hello").chmod(0o755)
    outcome = run(dispatcher(tmp_path).dispatch(claim_of("./hello")))
    assert outcome.body == f"hello from {tmp_path}\n"


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("a\0b", "null byte"),
        ("x" * 10_000_000, "Argument list too long"),
        ("\ud800", "surrogates not allowed"),
    ],
    ids=["NUL", "10 MB", "surrogate"],
)
def test_arguments_that_no_system_takes_are_a_failure(run: Run, argument: str, why: str) -> None:
    outcome = run(dispatched("echo", argument))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "not_started")
    assert why in (outcome.error_message or "")
    assert len(outcome.error_message or "") < 2100


# --- Limits ---------------------------------------------------------------------------------


def test_output_up_to_the_limit_is_kept_whole(run: Run) -> None:
    outcome = run(dispatched("head", "-c", str(MAX_OUTPUT), "/dev/zero"))
    assert outcome.status is RunStatus.SUCCESS
    assert outcome.body == "\0" * MAX_OUTPUT


@pytest.mark.parametrize("stream", [1, 2])
def test_a_flood_is_cut_and_the_process_ended(run: Run, stream: int) -> None:
    claim = claim_of(*script(f"trap '' TERM PIPE; yes >&{stream}"))
    began = time.monotonic()
    outcome = run(dispatcher().dispatch(claim))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "output")
    assert "more than 65536 bytes of output" in (outcome.error_message or "")
    assert outcome.body == ("y\n" * (MAX_OUTPUT // 2) if stream == 1 else None)
    assert time.monotonic() - began < 25
    assert until(lambda: not alive(claim))


def test_one_byte_too_much_is_too_much_also_when_the_program_had_ended(run: Run) -> None:
    outcome = run(dispatched("head", "-c", str(MAX_OUTPUT + 1), "/dev/zero"))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "output")
    assert isinstance(outcome.body, str)
    assert len(outcome.body) == MAX_OUTPUT


def test_a_command_that_takes_too_long_is_ended(run: Run) -> None:
    claim = claim_of(*script("echo begun; echo why >&2; sleep 60"), timeout=seconds(0.8))
    began = time.monotonic()
    outcome = run(dispatcher().dispatch(claim))
    assert outcome == Outcome(
        RunStatus.TIMEOUT, "timeout", "not done within 0.8 s; it was ended: why", body="begun\n"
    )
    assert time.monotonic() - began < 25
    assert until(lambda: not alive(claim))


def test_a_command_may_clean_up_before_it_is_killed(run: Run, tmp_path: Path) -> None:
    mark = tmp_path / "cleaned"
    text = f"trap 'touch {mark}; exit 0' TERM; sleep 60 & wait"
    outcome = run(
        dispatcher(patience=seconds(10)).dispatch(claim_of(*script(text), timeout=seconds(0.8)))
    )
    assert outcome.status is RunStatus.TIMEOUT
    assert mark.exists()


# --- The whole group ends -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "trap '' TERM; sleep 60; sleep 60",
        "trap '' TERM HUP INT QUIT; (trap '' TERM; sleep 60) & wait",
        "(sleep 60 & sleep 60 &) & sleep 60",
        "sleep 60 & exec sleep 60",
        "kill -STOP $$; sleep 60",
        "n=0; while [ $n -lt 40 ]; do (trap '' TERM; exec sleep 60) & n=$((n+1)); done; wait",
        "exec >/dev/null 2>&1 </dev/null; sleep 60",
    ],
    ids=["deaf", "deaf children", "orphans", "exec", "stopped", "forty", "silent"],
)
def test_a_timeout_ends_everything_that_was_started(run: Run, text: str) -> None:
    claim = claim_of(*script(text), timeout=seconds(0.4))
    outcome = run(dispatcher().dispatch(claim))
    assert outcome.status is RunStatus.TIMEOUT
    assert until(lambda: not alive(claim))


def test_what_a_finished_command_left_running_is_ended_too(run: Run) -> None:
    claim = claim_of(*script("(trap '' TERM HUP; sleep 60) & echo done"))
    began = time.monotonic()
    assert run(dispatcher().dispatch(claim)).body == "done\n"
    assert time.monotonic() - began < 25
    assert until(lambda: not alive(claim))


def test_a_child_that_left_the_group_does_not_hold_up_the_answer(run: Run) -> None:
    """It keeps the pipes open; what was said before the end is read all the same."""
    claim = claim_of(*script("setsid sleep 60 & sleep 0.2; seq 1 5000; exit 0"))
    began = time.monotonic()
    try:
        outcome = run(dispatcher().dispatch(claim))
        assert time.monotonic() - began < 25
        assert outcome.body == "".join(f"{n}\n" for n in range(1, 5001))
    finally:
        escaped = alive(claim)
        for pid in escaped:
            os.kill(pid, signal.SIGKILL)
    assert len(escaped) == 1


def test_a_program_that_forks_as_fast_as_it_can_is_ended_with_all_its_children(run: Run) -> None:
    bomb = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for _ in range(300):\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(0.2)\n"
        "        os.fork()\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "time.sleep(60)\n"
    )
    claim = claim_of(sys.executable, "-S", "-c", bomb, timeout=seconds(0.4))
    assert run(dispatcher(patience=seconds(0.05)).dispatch(claim)).status is RunStatus.TIMEOUT
    assert until(lambda: not alive(claim))


# --- Cancelled ------------------------------------------------------------------------------


async def _cancelled(claim: Claim, times: int) -> float:
    before = children()
    task = asyncio.create_task(dispatcher(patience=LONG).dispatch(claim))
    await soon(lambda: len(alive(claim)) >= 2)
    began = time.monotonic()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    await soon(lambda: children() == before)
    return time.monotonic() - began


@pytest.mark.parametrize("times", [1, 3])
def test_a_cancelled_command_is_killed_at_once(run: Run, times: int) -> None:
    claim = claim_of(*script("trap '' TERM; sleep 60 & sleep 60; sleep 60"))
    assert run(_cancelled(claim, times)) < 25
    assert until(lambda: not alive(claim))


def test_one_that_is_cancelled_while_it_is_asked_to_end_is_killed(run: Run) -> None:
    claim = claim_of(*script("trap '' TERM; sleep 60 & sleep 60; sleep 60"), timeout=seconds(0.3))

    async def cancel_later() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await dispatcher(patience=LONG).dispatch(claim)

    began = time.monotonic()
    run(cancel_later())
    assert time.monotonic() - began < 25
    assert until(lambda: not alive(claim))


# --- Many -----------------------------------------------------------------------------------


def test_many_at_once_do_not_disturb_each_other(run: Run) -> None:
    async def all_at_once() -> list[Outcome]:
        shell = dispatcher()
        claims = [
            claim_of(*script(f"sleep 0.0{n % 10}; echo {n}; exit {n % 3}"), name=f"n{n}")
            for n in range(60)
        ]
        return await asyncio.gather(*(shell.dispatch(claim) for claim in claims))

    outcomes = run(all_at_once())
    assert [outcome.body for outcome in outcomes] == list(range(60))
    assert [outcome.status_code for outcome in outcomes] == [n % 3 for n in range(60)]


def test_without_pidfd_it_works_as_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: int) -> int:
        raise OSError("not on this system")

    monkeypatch.setattr(process_module.os, "pidfd_open", refused)
    assert run(dispatched("echo", "hello")).body == "hello\n"
    claim = claim_of(*script("trap '' TERM; sleep 60 & wait"), timeout=seconds(0.2))
    assert run(dispatcher().dispatch(claim)).status is RunStatus.TIMEOUT
    assert until(lambda: not alive(claim))


async def test_where_the_admin_does_not_allow_it_it_is_not_wired() -> None:
    outcome = await RoutedDispatcher({}).dispatch(claim_of("echo", "hello"))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "not_allowed")
