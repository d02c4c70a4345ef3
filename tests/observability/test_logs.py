"""Lines of a log: JSON to the last, with ids where there are any, and without secrets."""

import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from cadenza.adapters.system.failing_runs import MOST_LINES, LoggingDispatcher
from cadenza.adapters.system.logs import add_present, mask_secrets
from cadenza.application.ports.tracing import present_traceparent
from cadenza.application.present import PresentRequest, present_claim, present_request
from cadenza.domain.run import Claim, Outcome
from tests.adapters.postgres.support import CADENZA, World, new_world, program, until
from tests.factories import FAILED, make_claim, make_endpoint
from tests.observability.support import PATIENCE
from tests.ports import free_port


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with new_world() as world:
        yield world


async def test_a_line_has_the_ids_of_what_its_task_works_on() -> None:
    claim = make_claim(make_endpoint("queue"))
    present_claim.set(claim)
    present_traceparent.set("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    line = add_present(None, "info", {"event": "slow"})
    assert line == {
        "event": "slow",
        "tenant_id": str(claim.tenant_id),
        "endpoint_id": str(claim.endpoint_id),
        "run_id": str(claim.run_id),
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
    }


async def test_a_line_about_a_request_names_it_and_who_asked() -> None:
    tenant_id = uuid4()
    present_request.set(PresentRequest("r-1", tenant_id))
    line = add_present(None, "info", {"event": "slow", "request_id": "its own"})
    assert line == {"event": "slow", "request_id": "its own", "tenant_id": str(tenant_id)}


async def test_a_line_about_nothing_in_particular_stays_as_it_is() -> None:
    assert add_present(None, "info", {"event": "started"}) == {"event": "started"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key cdz_4f2k1jAAAAbbbb01 was refused", "key cdz_*** was refused"),
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer ***"),
        ("basic dXNlcjpwYXNzd29yZA== sent", "basic *** sent"),
        ("postgresql://me:s3cr:et@db/cadenza is away", "postgresql://me:***@db/cadenza is away"),
        ("whsec_MfKQ9r8GKYqrTwjU", "whsec_***"),
        ("sk-proj-abcdefgh12345", "sk-***"),
        ("a task-force of 12345678 people", "a task-force of 12345678 people"),
        ("http://127.0.0.1:8080/a@b", "http://127.0.0.1:8080/a@b"),
        ("bearer of news", "bearer of news"),
    ],
)
def test_secrets_are_masked_wherever_they_stand(text: str, shown: str) -> None:
    line = {"event": text, "more": {"deep": [text]}, "count": 3}
    assert mask_secrets(None, "info", line) == {
        "event": shown,
        "more": {"deep": [shown]},
        "count": 3,
    }


async def test_where_thousands_fail_at_once_lines_are_bounded_and_the_rest_counted() -> None:
    class Fails:
        async def dispatch(self, claim: Claim) -> Outcome:
            del claim
            return FAILED

    logging = LoggingDispatcher(Fails())
    loop = _Loop()
    logging._lines._time = loop.time
    claims = [make_claim(make_endpoint(f"e{number}")) for number in range(1_000)]
    with capture_logs() as lines:
        for claim in claims:
            await logging.dispatch(claim)
        assert len(lines) == MOST_LINES
        loop.now += 1.0
        await logging.dispatch(make_claim(make_endpoint("one more")))
    assert (lines[-1]["event"], lines[-1]["endpoint"]) == ("run failed", "one more")
    assert lines[-1]["lines_left_out"] == 1_000 - MOST_LINES


class _Loop(SimpleNamespace):
    now = 100.0

    def time(self) -> float:
        return self.now


UNCAUGHT = """
import asyncio, logging, warnings
from cadenza.roots.program import set_up_logs
set_up_logs(as_json=True)
warnings.warn("old")
try:
    raise ValueError("inside postgresql://me:secret99@db/x")
except ValueError:
    logging.getLogger("asyncio").exception("Task exception was never retrieved")
raise RuntimeError("the end")
"""


def test_warnings_errors_of_libraries_and_the_end_of_a_program_are_lines_of_json() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNCAUGHT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    warning, library, end = map(json.loads, done.stderr.splitlines())
    assert warning["logger"] == "py.warnings"
    assert (library["logger"], library["level"]) == ("asyncio", "error")
    assert "ValueError: inside postgresql://me:***@db/x" in library["exception"]
    assert (end["event"], end["level"]) == ("the program has failed", "critical")
    assert "RuntimeError: the end" in end["exception"]


async def test_the_api_logs_what_is_no_http_as_json_too(world: World, tmp_path: Path) -> None:
    command = (CADENZA, "api", "--port", str(port := free_port()))
    with program(tmp_path / "api.log", world.url, command=command) as api:
        await until(lambda: "api started" in api.output(), within=PATIENCE)

        def refused() -> bool:
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as raw:
                    raw.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
                    return b"400" in raw.recv(4096)
            except OSError:
                return False

        await until(refused, PATIENCE)
        await until(lambda: "Invalid HTTP request received." in api.output(), PATIENCE)
    lines = [line for line in api.output().splitlines() if line]
    assert [json.loads(line) for line in lines if not line.startswith("The first admin key")]
    (line,) = [line for line in api.lines() if line["event"].startswith("Invalid HTTP")]
    assert line["logger"] == "uvicorn.error"
