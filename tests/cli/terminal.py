"""A command on a pseudo-terminal of a given width, and what is on its screen in the end."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping
from pathlib import Path

ROWS = 30
_STEPS = re.compile(rb"\x1b\[([0-9;?]*)([A-Za-z])|\x1b.|\r|\n|[^\x1b\r\n]+", re.DOTALL)


def shown(
    command: list[str],
    columns: int,
    environment: Mapping[str, str],
    folder: Path,
    typed: Mapping[str, str] | None = None,
    on_seen: Mapping[str, Callable[[], object]] | None = None,
) -> str:
    """`typed` answers what is asked, by a piece of the question; `on_seen` does something once a
    text is there."""
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    inherited = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}  # noqa: TID251
    terminal = {"TERM": "xterm-256color", "NO_COLOR": "1", "TZ": "UTC", **environment}
    answers, actions = dict(typed or {}), dict(on_seen or {})
    seen = b""
    with subprocess.Popen(
        [sys.executable, *command],
        env={**inherited, **terminal}, cwd=folder,
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    ):  # fmt: skip
        os.close(theirs)
        while piece := _read(mine):
            seen += piece
            for question in [text for text in answers if text.encode() in seen]:
                os.write(mine, f"{answers.pop(question)}\n".encode())
            for text in [text for text in actions if text.encode() in seen]:
                actions.pop(text)()
    os.close(mine)
    return screen_of(seen)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""  # how a terminal says that nobody is there any more


def screen_of(written: bytes) -> str:
    """What is there after the cursor has gone where it was sent, and lines have been cleared."""
    lines, row, column = [""], 0, 0
    for step in _STEPS.finditer(written):
        text = step[0]
        if text == b"\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif text == b"\r":
            column = 0
        elif step[2] == b"A":
            row = max(0, row - int(step[1] or b"1"))
        elif step[2] == b"K":
            lines[row] = "" if step[1] == b"2" else lines[row][:column]
        elif not text.startswith(b"\x1b"):
            words = text.decode(errors="replace")
            line = lines[row].ljust(column)
            lines[row] = line[:column] + words + line[column + len(words) :]
            column += len(words)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"
