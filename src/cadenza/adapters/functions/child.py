"""The process of an isolated function.

Its output belongs to the answer; what the function prints goes where errors go.
"""

import asyncio
import importlib
import importlib.util
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
from cadenza.adapters.functions.run import Run, present_run
from cadenza.domain.run import Outcome

NOT_MAIN = "__cadenza_child__"  # so that `if __name__ == "__main__"` stays closed


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    in_child.here = True
    outcome = _performed(order)
    told = {
        "status": outcome.status,
        "kind": outcome.error_kind,
        "message": outcome.error_message,
        "body": outcome.body,
    }
    with os.fdopen(answer, "w") as out:
        json.dump(told, out)
    sys.stderr.flush()
    os._exit(0)  # threads that the function left behind do not hold it up


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def _performed(order: dict[str, Any]) -> Outcome:
    try:
        value = _called(order)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's code raises
        return failure_of(error)
    return success_of(value)


def _called(order: dict[str, Any]) -> Any:
    sys.path[:] = order["path"]
    location = order["location"]
    names = location["qualname"].split(".")
    handle: Any = reduce(getattr, names, _module(location["module"], location["file"]))
    function = getattr(handle, "__wrapped__", handle)
    run = _run_of(order["run"])
    present_run.set(run)
    given = (run,) if order["takes_run"] else ()
    return asyncio.run(function(*given)) if order["is_async"] else function(*given)


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


def _run_of(told: dict[str, Any]) -> Run:
    told |= {name: datetime.fromisoformat(told[name]) for name in ("slot_at", "deadline_at")}
    return Run(**told)
