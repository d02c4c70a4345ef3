"""Help names types as people do, and a wrong value is named with what was expected."""

import subprocess
import sys

import pytest

CADENZA = (sys.executable, "-m", "cadenza.roots.main")


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CADENZA, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [(), ("endpoints", "create"), ("runs", "list"), ("up",)])
def test_help_shows_no_types_of_python(words: tuple[str, ...]) -> None:
    shown = ran(*words, "--help").stdout
    assert "--help" in shown
    for of_python in ("<str", "<list", "<int", "bool"):
        assert of_python not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("up", "--port", "abc"), "'abc' is not a whole number."),
        (("up", "--port", "99999"), "99999 is too large: the maximum is 65535."),
        (("runs", "list", "--limit", "0"), "0 is too small: the minimum is 1."),
        (("runs", "list", "--status", "failed"), "'failed' is not one of 'running', 'success',"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(
    words: tuple[str, ...], message: str
) -> None:
    refused = ran(*words)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Value error" not in refused.stderr
