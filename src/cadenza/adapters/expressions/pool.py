"""Expressions of owners, run in a process of their own, where they can be ended.

Tenants take turns: a round takes a question of each, and stops when it has used its time. An
expression that was ended is not run again for a while, and each job and each tenant has a purse of
processor time for what is costly. So nobody's expressions make another's wait for long.
"""

import asyncio
import socket
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any
from uuid import UUID

from cadenza.adapters.expressions.cel import CelExpressions, used_of
from cadenza.adapters.expressions.frames import HEADER, Answered, asked_frame, read_answers
from cadenza.adapters.expressions.purse import Purses
from cadenza.application.ports.expressions import Owner, Question
from cadenza.application.waiting import end_all
from cadenza.domain.errors import InvalidInput

PROGRAM = "cadenza.adapters.expressions.evaluator"
QUESTIONS_AT_ONCE = 64
MOST_WAITING = 10_000  # questions of one tenant
MOST_RESTING = 10_000  # expressions that are remembered


@dataclass(frozen=True, slots=True)
class Limits:
    seconds: float = 0.05  # of processor time, for one evaluation
    rests: float = 60  # seconds, after it was ended
    silence: float = 15  # seconds without a word, after which the process is replaced
    per_job: tuple[float, float] = (1.0, 0.05)  # at once, and a second
    per_tenant: tuple[float, float] = (2.0, 0.1)


@dataclass(slots=True)
class _Asked:
    owner: Owner
    expression: str
    values: dict[str, Any]
    answer: "asyncio.Future[Any]"

    def give(self, result: Any) -> None:
        if not self.answer.done():
            self.answer.set_result(result)


@dataclass(slots=True)
class _Process:
    popen: "subprocess.Popen[bytes]"
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, frame: bytes) -> bytes:
        self.writer.write(frame)
        await self.writer.drain()
        (length,) = HEADER.unpack(await self.reader.readexactly(HEADER.size))
        return await self.reader.readexactly(length)

    async def end(self) -> None:
        """It ends by itself when nobody asks any more; one that does not is killed."""
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()
        try:
            await asyncio.to_thread(self.popen.wait, 2)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            await asyncio.to_thread(self.popen.wait)


class EndableExpressions(CelExpressions):
    """Made by `endable_expressions`, which starts and ends its process."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._waiting: OrderedDict[UUID, deque[_Asked]] = OrderedDict()  # by tenant, in turn
        self._arrived = asyncio.Event()
        self._resting: OrderedDict[tuple[UUID, str], float] = OrderedDict()  # until when
        self._of_job, self._of_tenant = Purses(*limits.per_job), Purses(*limits.per_tenant)
        self._is_costly_turn = False
        self._process: _Process | None = None

    async def evaluate(self, owner: Owner, questions: Sequence[Question]) -> list[Any]:
        answers = [self._ask(owner, question) for question in questions]
        self._arrived.set()
        return [
            await answer if isinstance(answer, asyncio.Future) else answer for answer in answers
        ]

    async def serve(self, *, at_once: bool) -> None:
        try:
            with suppress(OSError):  # the first question starts it, and waits
                self._process = await _started(self._limits.seconds) if at_once else None
            while True:
                await self._arrived.wait()
                self._arrived.clear()
                while asked := self._round():
                    await self._run(asked)
        finally:
            if self._process is not None:
                await self._process.end()

    def _ask(self, owner: Owner, question: Question) -> "asyncio.Future[Any] | InvalidInput":
        used = used_of(question)
        if isinstance(used, InvalidInput):
            return used
        if (refusal := self._refusal(owner, question)) is not None:
            return refusal
        asked = _Asked(owner, question.expression, used, asyncio.Future())
        self._waiting.setdefault(owner.tenant_id, deque()).append(asked)
        return asked.answer

    def _refusal(self, owner: Owner, question: Question) -> InvalidInput | None:
        now, expression = monotonic(), question.expression
        if self._resting.get((owner.job_id, expression), now) > now:
            return self._too_long(expression)
        if self._of_job.wait(owner.job_id, now) or self._of_tenant.wait(owner.tenant_id, now):
            why = "the expressions of its job, or of all jobs, have used up their processor time"
            return InvalidInput("expression", expression, f"{why}; it is run again in a while")
        if len(self._waiting.get(owner.tenant_id, ())) >= MOST_WAITING:
            return InvalidInput("expression", expression, "too many expressions wait to be run")
        return None

    def _round(self) -> list[_Asked]:
        """A question of each tenant, then a second of each, as many as one round takes. Whose
        expressions were costly of late goes alone, every other round: they may end it early."""
        now = monotonic()
        costly = next((key for key in self._waiting if self._of_tenant.has_spent(key, now)), None)
        self._is_costly_turn = costly is not None and not self._is_costly_turn
        if costly is not None and (self._is_costly_turn or len(self._waiting) == 1):
            return self._next_of([costly])
        asked: list[_Asked] = []
        while len(asked) < QUESTIONS_AT_ONCE:
            plain = [key for key in self._waiting if not self._of_tenant.has_spent(key, now)]
            if not plain:
                break
            asked += self._next_of(plain[: QUESTIONS_AT_ONCE - len(asked)])
        return asked or self._next_of(list(self._waiting)[:1])

    def _next_of(self, tenants: Sequence[UUID]) -> list[_Asked]:
        asked: list[_Asked] = []
        for tenant_id in tenants:
            questions = self._waiting.pop(tenant_id)
            asked.append(questions.popleft())
            if questions:
                self._waiting[tenant_id] = questions  # behind the others
        return asked

    async def _run(self, asked: Sequence[_Asked]) -> None:
        try:
            if self._process is None:
                self._process = await _started(self._limits.seconds)
            frame = asked_frame([(question.expression, question.values) for question in asked])
            async with asyncio.timeout(self._limits.silence):
                content = await self._process.ask(frame)
        except (OSError, EOFError, TimeoutError):
            await self._replace(asked)
            return
        answers = read_answers(content, [question.expression for question in asked])
        if isinstance(answers, int):
            self._was_ended(asked[answers])
            answers, left = [], [*asked[:answers], *asked[answers + 1 :]]
        else:
            left = asked[len(answers) :]
        self._give(asked, answers)
        for question in reversed(left):
            tenant_id = question.owner.tenant_id
            self._waiting.setdefault(tenant_id, deque()).appendleft(question)
            self._waiting.move_to_end(tenant_id, last=False)

    def _give(self, asked: Sequence[_Asked], answers: Sequence[Answered]) -> None:
        now = monotonic()
        for question, (result, spent) in zip(asked, answers, strict=False):
            self._charge(question.owner, spent, now)
            question.give(result)

    def _charge(self, owner: Owner, spent: float, now: float) -> None:
        self._of_job.spend(owner.job_id, spent, now)
        self._of_tenant.spend(owner.tenant_id, spent, now)

    def _was_ended(self, asked: _Asked) -> None:
        now = monotonic()
        self._charge(asked.owner, self._limits.seconds, now)
        self._resting[asked.owner.job_id, asked.expression] = now + self._limits.rests
        if len(self._resting) > MOST_RESTING:
            self._resting.popitem(last=False)
        asked.give(self._too_long(asked.expression))

    def _too_long(self, expression: str) -> InvalidInput:
        most = f"{self._limits.seconds * 1000:g} ms"
        fix = f"it takes more than {most} of processor time, or too much memory, on these values"
        return InvalidInput("expression", expression, fix)

    async def _replace(self, asked: Sequence[_Asked]) -> None:
        """The process is gone, or silent."""
        process, self._process = self._process, None
        if process is not None:
            process.popen.kill()
            await process.end()
        for question in asked:
            fix = "it could not be run; its process was lost"
            question.give(InvalidInput("expression", question.expression, fix))


@asynccontextmanager
async def endable_expressions(
    limits: Limits | None = None, *, at_once: bool = True
) -> AsyncGenerator[EndableExpressions]:
    """Its process is started at once, or with the first question."""
    expressions = EndableExpressions(limits or Limits())
    serving = asyncio.create_task(expressions.serve(at_once=at_once))
    try:
        yield expressions
    finally:
        await end_all([serving])


async def _started(seconds: float) -> _Process:
    ours, theirs = socket.socketpair()
    with theirs:
        starting = asyncio.create_task(asyncio.to_thread(_popen, theirs, seconds))
        try:
            popen = await asyncio.shield(starting)
        except asyncio.CancelledError:  # a thread goes on: what it started would be nobody's
            ours.close()
            popen = await starting
            popen.kill()
            await asyncio.to_thread(popen.wait)
            raise
        except OSError:
            ours.close()
            raise
    reader, writer = await asyncio.open_connection(sock=ours)
    return _Process(popen, reader, writer)


def _popen(channel: socket.socket, seconds: float) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", PROGRAM, str(channel.fileno()), str(seconds)],
        pass_fds=[channel.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # the library reports there what we report ourselves
        env={},  # no secret of the program's
        start_new_session=True,  # Ctrl-C is not for it: it ends with its program
    )
