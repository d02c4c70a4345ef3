"""A program that a supervisor started ends with it, also when the supervisor was killed."""

import os
import signal
from collections.abc import Mapping
from threading import Thread

SUPERVISED = "CADENZA_SUPERVISED"
STDIN = 0  # read past Python's own buffer, which would hold a lock at the end


def end_with_parent(environment: Mapping[str, str]) -> None:
    """The parent holds the other end of our stdin, which is closed when the parent is gone."""
    if environment.get(SUPERVISED) == "1":
        Thread(target=_wait_for_end, name="parent", daemon=True).start()


def _wait_for_end() -> None:
    while os.read(STDIN, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
