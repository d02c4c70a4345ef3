"""The trace as targets get it: a header, a variable, a field of the run."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from cadenza.adapters.functions.child_process import call_in_child
from cadenza.adapters.functions.registered import registered
from cadenza.adapters.functions.run import Run, current_run
from cadenza.adapters.http.request import first_request
from cadenza.adapters.shell.dispatcher import ShellDispatcher, ShellRules
from cadenza.application.ports.tracing import present_traceparent
from cadenza.domain.target import HttpTarget, ShellTarget
from tests.factories import NOON, make_claim, make_endpoint

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03"
CLAIM = make_claim(make_endpoint("queue"))


@pytest.fixture
def traced() -> Iterator[None]:
    token = present_traceparent.set(TRACEPARENT)
    yield
    present_traceparent.reset(token)


def _headers(**own: str) -> dict[str, str]:
    target = HttpTarget("https://shop.example/", headers=own)
    return first_request(CLAIM, target, "key", None, {}).headers


@pytest.mark.usefixtures("traced")
def test_a_request_has_the_header_and_an_owners_own_stays() -> None:
    assert _headers()["traceparent"] == TRACEPARENT
    assert "traceparent" not in _headers(Traceparent="00-mine")
    assert _headers(Traceparent="00-mine")["Traceparent"] == "00-mine"


def test_without_a_trace_there_is_no_header() -> None:
    assert "traceparent" not in _headers()


async def test_a_command_has_the_variable() -> None:
    command = (sys.executable, "-c", "import os; print(os.environ.get('TRACEPARENT'), end='')")
    claim = replace(CLAIM, target=ShellTarget(command))
    dispatcher = ShellDispatcher(ShellRules())
    assert (await dispatcher.dispatch(claim)).body == "None"
    token = present_traceparent.set(TRACEPARENT)
    try:
        assert (await dispatcher.dispatch(claim)).body == TRACEPARENT
    finally:
        present_traceparent.reset(token)


def traceparent_of_run() -> str | None:
    return current_run().traceparent


async def test_a_function_in_a_child_knows_it_too() -> None:
    function = registered("traceparent_of_run", traceparent_of_run, isolate=True)
    about = ("run", NOON, 1, "key", NOON + timedelta(seconds=60), "manual")
    outcome = await call_in_child(function, Run(*about, traceparent=TRACEPARENT))
    assert outcome.body == TRACEPARENT
