"""How long this machine lets a program wait that wants next to nothing: a process of its own.

It sleeps for a moment and computes for another, again and again. What that takes longer than it
should is the machine's doing, not that of the programs that are tried.
"""

import json
import sys
from pathlib import Path
from time import process_time, sleep
from time import time as wall_time  # noqa: TID251 - as its witnesses have it

TICK = 0.05
WORK = 0.001  # seconds of processor time
LEAST = 0.02  # seconds that are worth a line


def beat() -> tuple[float, float, float]:
    """From, to, and how long of that the machine was busy with others."""
    began, worked = wall_time(), process_time()
    sleep(TICK)
    while process_time() - worked < WORK:
        pass
    ended = wall_time()
    return began, ended, ended - began - TICK - WORK


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", buffering=1) as log:
        while True:
            began, ended, late = beat()
            if late > LEAST:
                log.write(json.dumps([began, ended, late]) + "\n")
