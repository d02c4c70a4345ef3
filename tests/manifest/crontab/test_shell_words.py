"""What cron makes of a command, and whether it needs a shell."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.manifest.crontab.shell_words import plain_words, shell_script, split_input

PRINTF = shutil.which("printf") or "printf"


@pytest.mark.parametrize(
    ("written", "command", "given_input"),
    [
        ("date", "date", None),
        (r"date +\%F", "date +%F", None),
        ("mail joe%Hi,%there", "mail joe", "Hi,\nthere"),
        ("mail joe %", "mail joe", ""),
        (r"a \\%b", r"a \\", "b"),
        (r"a%b\%c\d", "a", r"b%c\d"),
        (r"echo \n", r"echo \n", None),
    ],
)
def test_a_percent_sign_begins_the_input_and_an_escaped_one_is_itself(
    written: str, command: str, given_input: str | None
) -> None:
    assert split_input(written) == (command, given_input)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/usr/bin/backup --all", ["/usr/bin/backup", "--all"]),
        ("a  b\tc", ["a", "b", "c"]),
        ("a 'b c' \"d e\"f", ["a", "b c", "d ef"]),
        ("a ''", ["a", ""]),
        ("a '$HOME `x` \\ *'", ["a", "$HOME `x` \\ *"]),
        ("a x=y", ["a", "x=y"]),
        ("curl https://example.com/?a=b", ["curl", "https://example.com/?a=b"]),
        # whatever a shell would do more with
        ("a $HOME", None), ('a "$HOME"', None), ("a `b`", None), ("a > b", None), ("a | b", None),
        ("a && b", None), ("a; b", None), ("a &", None), ("a *", None), ("a ?", None),
        ("a [b]", None), ("a {b,c}", None), ("a ~/b", None), ("a \\b", None), ("a # b", None),
        ("X=1 a", None), ("cd /srv", None), (". /etc/x", None), ("echo -e x", None), ("! a", None),
        ("if true", None), ("a 'b", None), ("''", None), ("a\xa0b", None), ("(a)", None),
        ("curl https://example.com/?a=b&c=d", None), ('a "b\\"c"', None), ('a "b!c"', None),
    ],
)  # fmt: skip
def test_arguments_are_taken_over_only_where_a_shell_would_do_nothing_more(
    command: str, words: list[str] | None
) -> None:
    assert plain_words(command) == words


@settings(max_examples=150, deadline=None)
@given(st.text("ab =%:,./-@+'\"$*~\\#!&?{}[]\t", max_size=12))
def test_the_arguments_are_those_that_a_shell_would_give(tail: str) -> None:
    command = f"{PRINTF} '<%s>' x{tail}"
    words = plain_words(command)
    if words is not None:
        run = subprocess.run(words, capture_output=True, check=True)
        shell = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
        assert run.stdout == shell.stdout


@pytest.mark.parametrize("written", ["", "a", "a\n", "a\n\nb", "it's 100% \\n $HOME", "\n"])
def test_the_input_reaches_the_command_and_ends_with_a_new_line(written: str) -> None:
    script = shell_script("cat; cat # and so on", written)
    run = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == (written if written.endswith("\n") else f"{written}\n")


def test_how_the_command_ends_is_how_the_script_ends() -> None:
    assert subprocess.run(["sh", "-c", shell_script("exit 3", "x")], check=False).returncode == 3
