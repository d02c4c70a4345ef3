"""A charge is made before the graph has its whole answer, and survives a database that is away."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from cadenza.adapters.gateway.onward import Limits
from cadenza.domain.billing import Basis
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.graph import ErrorCode
from tests.adapters.gateway.support import HAIKU, KEY, MESSAGE, Stage, eventually, staged

ENDS: list[tuple[str, dict[str, Any], bytes]] = [
    ("/v1/chat/completions", HAIKU, b"bell"),
    ("/v1/chat/completions", {**HAIKU, "stream": True}, b"[DONE]"),
    ("/v1/messages", {**MESSAGE, "stream": True}, b"message_stop"),
    ("/v1/responses", {"model": "poet", "stream": True, "input": "rain"}, b"completed\ndata"),
]


@pytest.mark.parametrize(("path", "body", "end"), ENDS)
async def test_the_end_of_an_answer_waits_for_its_charge(
    path: str, body: dict[str, Any], end: bytes
) -> None:
    async with staged(Limits(settle_s=600)) as stage:
        await end_waits(stage, path, body, end)


async def end_waits(stage: Stage, path: str, body: dict[str, Any], end: bytes) -> None:
    stage.meter.may_settle.clear()
    received = bytearray()

    async def ask() -> None:
        answer = await stage.post(path, body)
        async for piece in answer.content.iter_any():
            received.extend(piece)

    asking = asyncio.create_task(ask())
    await eventually(lambda: KEY in stage.provider.used)
    if "stream" in body:  # what comes before the end does not wait
        await eventually(lambda: b"bell" in received)
    await asyncio.wait({asking}, timeout=0.2)
    assert end not in received
    stage.meter.may_settle.set()
    await asking
    assert end in received
    assert stage.meter.used == stage.provider.used[KEY]


async def test_a_database_that_is_away_holds_nobody_up_and_is_tried_again() -> None:
    async with staged(Limits(settle_s=0.05)) as stage:
        stage.meter.may_settle.clear()
        stage.meter.store_is_away = [StoreUnavailable("away"), StoreUnavailable("away")]
        with capture_logs() as logs:
            answer = await stage.post()
            assert answer.status == 200
            assert stage.meter.settled == []
            stage.meter.may_settle.set()
            await stage.gateway.close(stage.run_id)
        assert stage.meter.used == stage.provider.used[KEY]
        assert [entry["event"] for entry in logs] == ["charge_waits", "charge_waits"]


async def test_a_charge_that_is_lost_is_reported_with_its_figures() -> None:
    async with staged(Limits(settle_s=0.05, close_s=0.2)) as stage:
        stage.meter.store_is_away = [StoreUnavailable("away")] * 100
        with capture_logs() as logs:
            await stage.post()
            await stage.gateway.close(stage.run_id)
        assert stage.meter.settled == []
        lost = logs[-1]
        used = stage.provider.used[KEY]
        assert (lost["event"], lost["log_level"]) == ("charge_lost", "error")
        assert (lost["run_id"], lost["unit"]) == (str(stage.run_id), "1")
        assert lost["usage"]["output_tokens"] == used.output_tokens
        assert stage.meter.failures == [
            (ErrorCode.INTERNAL, "the charge for call 1 could not be stored")
        ]


async def test_a_meter_with_a_bug_does_not_end_the_gateway() -> None:
    async with staged() as stage:
        stage.meter.store_is_away = [RuntimeError("a bug")]
        with capture_logs() as logs:
            assert (await stage.post()).status == 200
        assert [entry["event"] for entry in logs] == ["charge_lost"]
        assert (await stage.post()).status == 200
        assert len(stage.meter.settled) == 1


async def test_closing_waits_for_every_charge() -> None:
    async with staged() as stage:
        stage.meter.may_settle.clear()
        body = {**HAIKU, "model": "fault-hang", "stream": True}
        answers = [await stage.post(body=body) for _ in range(10)]
        closing = asyncio.create_task(stage.gateway.close(stage.run_id))
        await asyncio.wait({closing}, timeout=0.1)
        assert not closing.done()
        stage.meter.may_settle.set()
        await closing
        assert len(stage.meter.settled) == 10
        assert stage.meter.bases == {Basis.ESTIMATED}
        for answer in answers:
            answer.close()


async def test_the_end_of_the_gateway_closes_every_run() -> None:
    async with staged() as stage:
        answer = await stage.post(body={**HAIKU, "model": "fault-hang", "stream": True})
        await answer.content.readany()
    answer.close()
    assert stage.meter.bases == {Basis.ESTIMATED}
