"""A program that another one started ends with it, also when that one was killed."""

import os
import signal
from threading import Thread

SUPERVISED = "CADENZA_SUPERVISED"
STDIN = 0  # read past Python's own buffer, which would hold a lock at the end


def end_with_parent() -> None:
    """The parent holds the other end of our stdin; when it is gone, however, that is closed."""
    if os.environ.get(SUPERVISED) == "1":
        Thread(target=_wait_for_end, name="parent", daemon=True).start()


def _wait_for_end() -> None:
    while os.read(STDIN, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
