"""The process that runs expressions: `python -m cadenza.adapters.expressions.evaluator FD SECONDS`.

It forks a process that answers questions. The kernel ends that one when a single expression has
used up its processor time (a busy machine fails no honest one); then its parent says which it was,
and forks the next, which takes a few milliseconds. Both end when the program closes its end.
"""

import mmap
import os
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from time import thread_time

from cadenza.adapters.expressions.cel import run
from cadenza.adapters.expressions.frames import (
    HEADER,
    Answered,
    answer_frame,
    ended_frame,
    read_asked,
)

GIVES_WAY = 5  # to the program that asks, where there are few processors
SLICE_SECONDS = 0.02  # of processor time; what is left over is asked again, after others' questions
MEMORY = 512 * 1024 * 1024  # bytes more than it has at its start
_INDEX = struct.Struct("i")


def main(channel: socket.socket, limit: float) -> None:
    os.nice(GIVES_WAY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    current = mmap.mmap(-1, _INDEX.size)  # shared with the one that answers
    while True:
        child = os.fork()
        if child == 0:
            _limit_memory()
            with suppress(ConnectionError):
                _answer(channel, current, limit)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return
        try:
            channel.sendall(ended_frame(_INDEX.unpack_from(current)[0]))
        except ConnectionError:
            return


def _answer(channel: socket.socket, current: mmap.mmap, limit: float) -> None:
    while (content := _received(channel)) is not None:
        answers: list[Answered] = []
        begun = thread_time()
        for index, (expression, values) in enumerate(read_asked(content)):
            _INDEX.pack_into(current, 0, index)
            before = thread_time()
            if before - begun > SLICE_SECONDS:
                break
            signal.setitimer(signal.ITIMER_PROF, limit)  # its signal is left to the kernel
            result = run(expression, values)
            answers.append((result, thread_time() - before))
        signal.setitimer(signal.ITIMER_PROF, 0)
        channel.sendall(answer_frame(answers))


def _received(channel: socket.socket) -> bytes | None:
    header = _exactly(channel, HEADER.size)
    return None if header is None else _exactly(channel, HEADER.unpack(header)[0])


def _exactly(channel: socket.socket, length: int) -> bytes | None:
    data = bytearray()
    while len(data) < length:
        more = channel.recv(min(length - len(data), 1 << 20))
        if not more:
            return None
        data += more
    return bytes(data)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError), open("/proc/self/statm", "rb") as file:
        most = int(file.read().split()[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as inherited:
        main(inherited, float(sys.argv[2]))
