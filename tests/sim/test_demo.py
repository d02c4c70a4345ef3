"""The demo, shortened: the schedule tightens, acts and relaxes, and says why."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cadenza.demo.shop import Shop
from cadenza.demo.stage import scaled
from cadenza.domain.endpoint import Every
from cadenza.roots.examples import example_job
from tests.factories import seconds

CADENZA = (sys.executable, "-m", "cadenza.roots.main")


def _demo(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CADENZA, "demo", *words], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    done = _demo("--length", "20s", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _acts(told: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {each["endpoint"]: each for each in told["acts"] if each["kind"] == kind}


def test_it_tightens_acts_and_relaxes_in_this_order_and_says_why(told: dict[str, Any]) -> None:
    tightened, acted, relaxed = (_acts(told, each) for each in ("tightened", "acted", "relaxed"))
    assert "200 visitors or more" in tightened["shop"]["why"]
    assert "pages take more than a second" in acted["add_workers"]["why"]
    assert "the rush is over" in relaxed["shop"]["why"]
    assert "workers cost money" in acted["release_workers"]["why"]
    assert tightened["shop"]["after_s"] < relaxed["shop"]["after_s"]
    assert acted["add_workers"]["after_s"] < acted["release_workers"]["after_s"]


def test_every_call_was_answered_and_what_acts_ran_once(told: dict[str, Any]) -> None:
    endpoints = told["endpoints"]
    assert all(each["failed"] == 0 for each in endpoints.values())
    assert endpoints["shop"]["hinted"] > 2
    assert endpoints["shop"]["shortest_gap_s"] < endpoints["shop"]["longest_gap_s"]
    assert endpoints["tell_operations"]["runs"] >= 1
    assert endpoints["add_workers"]["runs"] >= 1


def test_without_a_terminal_it_tells_the_story_in_lines() -> None:
    done = _demo("--length", "15s")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("A shop on this machine is looked at every 1.2 s.")
    assert "http://localhost:" in lines[2]
    assert "a calm shop" in lines[4]
    assert any("tightened  shop now runs every" in line for line in lines)
    assert any("relaxed    shop returns to its baseline" in line for line in lines)
    assert any("relaxed    checkout now runs every" in line for line in lines)
    assert "\x1b" not in done.stdout


@pytest.mark.slow
def test_in_a_small_terminal_the_newest_acts_are_seen_and_in_the_end_all_of_them() -> None:
    told = _on_terminal("demo", "--length", "15s", rows=20, columns=80)
    frames = told.split(" of 0:15 ")
    assert len(frames) > 20
    # A picture that is higher than the screen is cut off with dots, and its newest line is lost.
    assert not any("..." in each for each in frames)
    assert any("tightened" in each and "relaxed" not in each for each in frames)
    assert any("relaxed" in each and "tightened  checkout" not in each for each in frames)
    last = frames[-1]
    assert last.count("tightened") == last.count("relaxed") == 2
    assert "What it came to" in last
    assert told.rstrip().endswith("or cadenza up.")


def _on_terminal(*words: str, rows: int, columns: int) -> str:
    """What a terminal of this size is sent, without colours and moves."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    # Whoever imports readline gets LINES and COLUMNS into the environment of children.
    env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}  # noqa: TID251
    process = subprocess.Popen(
        [*CADENZA, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    sent = b""
    with suppress(OSError):  # so does Linux say that nobody writes to it any more
        while data := os.read(ours, 65536):
            sent += data
    os.close(ours)
    assert process.wait(10) == 0
    return re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", sent.decode())


def test_an_interrupt_ends_it_without_a_trace(tmp_path: Path) -> None:
    """Two at once, which are nothing to each other."""
    both = [_started_demo(tmp_path) for _ in range(2)]
    for each in both:
        assert each.stdout is not None
        assert any(b"a calm shop" in line for line in iter(each.stdout.readline, b""))
    for each in both:
        each.send_signal(signal.SIGINT)
        _, complaints = each.communicate(timeout=60)
        assert (each.returncode, complaints) == (130, b"")
        with pytest.raises(ProcessLookupError):  # nobody is left of its group
            os.killpg(each.pid, 0)
    assert list(tmp_path.iterdir()) == []


def _started_demo(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*CADENZA, "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        # Tests that run in the background of a shell would have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        env={**os.environ, "TMPDIR": str(folder)},  # noqa: TID251
        start_new_session=True,
    )


def test_a_length_that_cannot_be_is_refused_with_the_fix() -> None:
    for length in ("1s", "soon", "2h"):
        done = _demo("--length", length)
        assert done.returncode == 1
        assert "--length" in done.stderr


def test_more_workers_make_the_shop_fast_again() -> None:
    share = 0.3
    shop = Shop(lambda: share)
    slow = shop.page_load_ms
    shop.add_workers()
    assert slow > 1000 > shop.page_load_ms
    shop.release_workers()
    share = 0.9
    assert shop.page_load_ms < 500


def test_a_shorter_demo_has_shorter_intervals_but_none_below_a_second() -> None:
    job = scaled(example_job("demo.yaml"), 0.1)
    shop = next(each for each in job.endpoints if each.name == "shop")
    assert shop.baseline == Every(seconds(1.2))
    assert shop.min_interval == seconds(1)
    assert job.rules[0].then.duration == seconds(1)
