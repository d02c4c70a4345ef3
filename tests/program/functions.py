"""Functions at the top of a module, where a child process finds them."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cadenza import Run


def pid() -> int:
    return os.getpid()


async def about(run: Run) -> dict[str, Any]:
    print("printed by the function")
    return {"attempt": run.attempt, "key": run.idempotency_key, "late": run.is_cancelled}


def fail() -> None:
    raise LookupError("nothing there")


def die() -> None:
    os.kill(os.getpid(), 9)


def hang_with_a_child() -> None:
    """It writes its own id and that of its child, and waits for ever."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(os.environ["CADENZA_TEST_PIDS"]).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(600)


def wait_for_cancel(run: Run) -> None:
    run.cancel.wait(600)
    Path(os.environ["CADENZA_TEST_PIDS"]).write_text("cancelled")


def read() -> str:
    """What is typed in, and what a program that it starts finds to read."""
    done = subprocess.run(["cat"], capture_output=True, text=True, check=True)
    return sys.stdin.read() + done.stdout


def interrupt() -> None:
    raise KeyboardInterrupt


def fork() -> int:
    """Both processes come back from it."""
    os.fork()
    return 3


def huge() -> int:
    return 10**5000
