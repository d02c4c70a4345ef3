"""Commands: what cron makes of %, and where a shell is needed to do the same."""

import re
import shlex

_BARE = r"[A-Za-z0-9_@%+:,./=-]"
_URL = r"https?://[A-Za-z0-9_@%+:,./=?~-]*"  # a ? in an address matches no file
_WORD = rf"""(?:{_URL}|(?:{_BARE}|'[^']*'|"[^"$`\\!]*")+)"""
_WORDS = re.compile(rf"{_WORD}(?:[ \t]+{_WORD})*")
# What a shell does itself, or does otherwise than the program of that name.
_OF_SHELL = re.compile(
    r"""\.|:|alias|bg|break|case|cd|command|continue|declare|do|done|echo|elif|else|esac|eval|exec
    |exit|export|false|fg|fi|for|function|getopts|hash|if|jobs|kill|let|local|printf|pwd|read|return
    |select|set|shift|source|test|then|time|times|trap|true|type|ulimit|umask|unset|until|wait
    |while""",
    re.VERBOSE,
)


def split_input(command: str) -> tuple[str, str | None]:
    r"""The first % ends the command, the others are new lines of its input; \% is a % sign."""
    texts = [""]
    for sign in re.findall(r"\\.|.", command, re.DOTALL):
        if sign == "%":
            texts.append("")
        else:
            texts[-1] += "%" if sign == r"\%" else sign
    if len(texts) == 1:
        return texts[0], None
    return texts[0].rstrip(" \t"), "\n".join(texts[1:])


def plain_words(command: str) -> list[str] | None:
    """The arguments, where a shell would do nothing but split them; None where it would do more."""
    if _WORDS.fullmatch(command) is None:
        return None
    words = shlex.split(command)
    first = words[0]
    return None if not first or "=" in first or _OF_SHELL.fullmatch(first) else words


def shell_script(command: str, stdin: str | None) -> str:
    """With what stood behind the first % as its input, which cron ends with a new line."""
    if stdin is None:
        return command
    end = "" if stdin.endswith("\n") else r"\n"
    return f"printf '%s{end}' {shlex.quote(stdin)} | (\n{command}\n)"
