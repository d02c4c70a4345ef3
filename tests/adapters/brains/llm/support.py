"""A small installation in memory whose planner asks a provider over a real connection."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.adapters.brains.llm.brain import LlmBrain
from cadenza.adapters.brains.llm.options import LlmOptions
from cadenza.adapters.brains.llm.options import Provider as Kind
from cadenza.application.planner import Planner
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.session import Session
from cadenza.domain.target import Secret
from tests.adapters.brains.llm.provider import (
    ANTHROPIC,
    GOOGLE,
    OPENAI,
    Answer,
    Model,
    Provider,
    served,
)
from tests.application.bench import Bench
from tests.factories import NOON, seconds

KEY = "sk-cadenza-0123456789-very-secret"
MODELS = {
    Kind.OPENAI: "gpt-4o-mini",
    Kind.COMPATIBLE: "llama3.1",
    Kind.ANTHROPIC: "claude-haiku-4-5",
    Kind.GOOGLE: "gemini-2.5-flash",
}
PROTOCOLS = {
    Kind.OPENAI: OPENAI,
    Kind.COMPATIBLE: OPENAI,
    Kind.ANTHROPIC: ANTHROPIC,
    Kind.GOOGLE: GOOGLE,
}
EVERY_KIND = list(MODELS)
every_kind = pytest.mark.parametrize("kind", EVERY_KIND)
both_modes = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
SUBMIT = ("submit_analysis", {"reasoning": "all is well", "next_analysis_in_ms": 600_000})
SUBMITS = Answer([SUBMIT])
FASTER = ("propose_interval", {"interval_ms": 30_000, "reason": "load"})


class StandingClock:
    """Time that passes only when somebody sleeps, on a loop that waits for real connections."""

    def __init__(self) -> None:
        self._now = NOON

    def now(self) -> datetime:
        return self._now

    async def sleep(self, duration: timedelta) -> None:
        self._now += duration

    def step(self, by: timedelta) -> None:
        self._now += by


@dataclass
class Scene:
    bench: Bench
    provider: Provider
    brain: LlmBrain
    planner: Planner

    async def session(self) -> Session:
        """One round of the planner, in which one session is held."""
        before = len(self.bench.sessions)
        await self.planner.run_once()
        (session,) = self.bench.sessions[before:]
        return session

    async def again(self, body: Any = None) -> Session:
        """Some minutes later, when the endpoint has run once more."""
        self.bench.clock.step(timedelta(hours=2))
        await self.bench.ran(body=body)
        return await self.session()

    @property
    def stored(self) -> str:
        """Everything that anybody could read afterwards."""
        return repr((self.bench.sessions, self.bench.log.events, self.planner.refusal))


@asynccontextmanager
async def scene(
    model: Model,
    kind: Kind = Kind.OPENAI,
    body: Any = None,
    limit: float = 120,
    quota: int | None = 10_000_000,
    **options: Any,
) -> AsyncGenerator[Scene]:
    """An endpoint that has just run with this answer, and a model that may look at it."""
    bench = Bench(tokens_per_month=quota)
    bench.clock = bench.tables.clock = StandingClock()  # pyright: ignore
    await bench.add(baseline=OnDemand())
    await bench.ran(body=body)
    async with served(model) as provider:
        suffix = "/v1" if kind in (Kind.OPENAI, Kind.COMPATIBLE) else ""
        defaults: dict[str, Any] = {"api_key": Secret(KEY), "timeout": seconds(60)}
        defaults["base_url"] = provider.url + suffix
        brain = LlmBrain(
            LlmOptions(kind, MODELS[kind], **{**defaults, **options}),
            new_marker=lambda: bench.chance.new_id().hex,
        )
        planner = bench.planner(brain, session_limit=seconds(limit))
        try:
            yield Scene(bench, provider, brain, planner)
            asked_for = {request.for_a_stream for request in provider.asked}
            assert asked_for <= {options.get("stream", False)}
        finally:
            await brain.aclose()


def calls_of(session: Session) -> list[tuple[str, Any]]:
    return [(call.tool, call.result["ok"]) for call in session.tool_calls]


def data_in(text: str, marker: str) -> list[Any]:
    """What stands between the marks of this session."""
    parts = text.split(f"<data-{marker}>")[1:]
    return [json.loads(part.split(f"</data-{marker}>")[0]) for part in parts]
