"""The process of an isolated function.

Input and output belong to order and answer: what the function prints goes where errors go, and for
it there is nothing to read.
"""

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import threading
from datetime import datetime
from functools import reduce
from types import ModuleType
from typing import Any

from cadenza.adapters.functions import in_child
from cadenza.adapters.functions.answers import failure_of, success_of
from cadenza.adapters.functions.registered import MAIN
from cadenza.adapters.functions.run import PresentRun, Run, present_run
from cadenza.domain.run import Outcome

NOT_MAIN = "__cadenza_child__"  # so that `if __name__ == "__main__"` stays closed


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)
    orders = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with os.fdopen(os.dup(orders), "rb") as lines:
        order = json.loads(lines.readline())
    threading.Thread(target=_end_with_parent, args=(orders,), daemon=True).start()
    in_child.here = True
    own = os.getpid()
    outcome = _performed(order)
    if os.getpid() != own:  # a fork of it came back here: there is one answer
        os._exit(0)
    result = {
        "status": outcome.status,
        "kind": outcome.error_kind,
        "message": outcome.error_message,
        "body": outcome.body,
    }
    with os.fdopen(answer, "w") as out:
        json.dump(result, out)
    sys.stderr.flush()
    os._exit(0)  # threads that the function left behind do not hold it up


def _end_with_parent(orders: int) -> None:
    while os.read(orders, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def _performed(order: dict[str, Any]) -> Outcome:
    try:
        return success_of(_called(order))
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        return failure_of(error)


def _called(order: dict[str, Any]) -> Any:
    sys.path[:] = order["path"]
    location = order["location"]
    names = location["qualname"].split(".")
    handle: Any = reduce(getattr, names, _module(location["module"], location["file"]))
    function = getattr(handle, "__wrapped__", handle)
    run = _run_of(order["run"])
    present_run.set(PresentRun(lambda: run))
    arguments = (run,) if order["takes_run"] else ()
    value = function(*arguments)
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def _module(name: str, file: str | None) -> ModuleType:
    if name != MAIN:
        return importlib.import_module(name)
    assert file is not None
    spec = importlib.util.spec_from_file_location(NOT_MAIN, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NOT_MAIN] = module
    spec.loader.exec_module(module)
    return module


def _run_of(fields: dict[str, Any]) -> Run:
    fields |= {name: datetime.fromisoformat(fields[name]) for name in ("slot_at", "deadline_at")}
    return Run(**fields)
