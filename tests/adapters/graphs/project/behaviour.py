"""Graphs of the kind `python:` for the tests: gentle ones first, then the hostile."""

import asyncio
import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import time

DAEMON = """
import os, sys
pid = os.fork()
if pid:
    print(pid)
    sys.exit()
os.setsid()
os.execvp("sleep", ["sleep", "600"])
"""


async def echo(values):
    return values


def blocking_echo(values):
    time.sleep(0.01)
    return values


async def with_context(values, context):
    return {"run": context.run_id, "attempt": context.attempt, "slot_at": context.slot_at}


async def digest(values):
    yield "three "
    yield {"progress": 1}
    yield {"kind": "tool_call_start", "data": {"id": "1", "name": "look", "arguments": {}}}
    yield {"kind": "usage", "data": {"input_tokens": 1}}
    yield {"count": 3}


def numbers(values):
    for number in range(values["to"]):
        yield {"number": number}


async def environment(values):
    return dict(os.environ)


async def descriptors(values):
    """What is open: 0, 1, 2, the channel, the loop's own, and nothing of the server's."""
    return [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")[:-1]]


async def tells(values):
    """Two events, and then nothing more for long."""
    yield {"number": 1}
    yield {"number": 2}
    with open(values["path"], "a") as file:
        file.write(f"{os.getpid()}\n")
    await asyncio.sleep(600)


async def waits_for(values):
    with open(values["path"], "a") as file:
        file.write(f"{os.getpid()}\n")
    while not os.path.exists(values["sign"]):
        await asyncio.sleep(0.02)
    return {"seen": True}


async def own_group(values):
    with open("/proc/self/cgroup") as file:
        return next((line[3:].strip() for line in file if line.startswith("0::")), "")


async def touch(values):
    with open(values["path"], "a") as file:
        file.write(f"{os.getpid()}\n")
    yield "touched"
    await asyncio.sleep(values.get("seconds", 0))


async def raises(values):
    print("about to fail")
    raise ValueError("no such city: Atlantis")


async def hangs(values):
    yield "here"
    await asyncio.Event().wait()


async def blocks(values):
    yield "here"
    time.sleep(600)


async def eats_memory(values):
    hoard = []
    while True:
        hoard.append(bytearray(os.urandom(1)) * 2**20)


async def asks_for_everything(values):
    return len(bytearray(2**36))


async def forks_and_eats(values):
    """No single process is over the limit."""
    for _ in range(8):
        if os.fork() == 0:
            hoard = [bytearray(b"x" * 2**20) for _ in range(48)]
            time.sleep(600)
            del hoard
    await asyncio.sleep(600)


async def exits(values):
    sys.exit(3)


async def exits_at_once(values):
    print("going", flush=True)
    os._exit(values["code"])


async def crashes(values):
    print("crashing", flush=True)
    ctypes.string_at(0)


async def forks_without_end(values):
    while True:
        if os.fork() == 0:
            time.sleep(600)


async def thousand_threads(values):
    threading.stack_size(64 * 1024)
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    await asyncio.sleep(600)


async def prints_noise(values):
    line = "noise " * 100
    while True:
        print(line)


async def endless(values):
    while True:
        yield "x"


async def huge_event(values):
    yield "x" * 2**20


async def huge_output(values):
    return "x" * 2**21


def _channel():
    """Not handed to a graph, but in its process: who looks for it finds it."""
    emitters = [item for item in gc.get_objects() if type(item).__name__ == "Emitter"]
    return emitters[0]._channel


async def writes_rubbish(values):
    _channel().sendall(bytes.fromhex(values["hex"]))
    await asyncio.sleep(600)


async def forges(values):
    raw = json.dumps(values["message"]).encode()
    _channel().sendall(len(raw).to_bytes(4, "big") + raw)
    return "done"


async def closes_its_channel(values):
    _channel().close()
    await asyncio.sleep(600)


async def leaves_children(values):
    """One in the group, one in a session of its own, one twice removed; it yields their ids."""
    plain = subprocess.Popen(["sleep", "600"])
    session = subprocess.Popen(["sleep", "600"], start_new_session=True)
    daemon = subprocess.run([sys.executable, "-c", DAEMON], stdout=subprocess.PIPE, check=True)
    pids = [plain.pid, session.pid, int(daemon.stdout)]
    if values.get("path"):
        with open(values["path"], "w") as file:
            file.write(" ".join(map(str, [os.getpid(), *pids])))
    if values.get("stay"):
        yield {"pids": pids}
        await asyncio.sleep(600)
    yield {"pids": pids}


async def server(values):
    return os.getppid()


async def kills_the_server(values):
    os.kill(os.getppid(), 9)
    await asyncio.sleep(600)


async def stops_the_server(values):
    os.kill(os.getppid(), 19)
    yield "stopped"
    await asyncio.sleep(600)


async def returns_odd_values(values):
    return {"nan": float("nan"), "bytes": b"x", "nul": "a\0b", "lone": "\ud800", 1: {2}}


class ProviderError(Exception):
    def __init__(self, status, body=None):
        super().__init__(f"status {status}")
        self.status_code = status
        self.body = body


async def provider_fails(values):
    try:
        raise ProviderError(values["status"], values.get("body"))
    except ProviderError as error:
        raise RuntimeError("the model did not answer") from error
