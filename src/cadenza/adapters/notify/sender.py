"""Messages to channels, each sent by a child of its own within a deadline."""

import asyncio
import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from cadenza.application.ports.notifications import CheckedUrl
from cadenza.domain.delivery import Attempt
from cadenza.domain.errors import InvalidInput, Refused
from cadenza.domain.instants import humanize
from cadenza.domain.message import Message
from cadenza.domain.target import Secret

DEADLINE = timedelta(seconds=30)
MAX_URL = 2000
MIN_SECRET = 4  # shorter parts of a URL are words that may well be in an answer
MASKED = "***"
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
_NO_SECRETS = frozenset(("mailto", "mailtos", "https", "http", "slack", "json", "jsons"))


class AppriseSender:
    def __init__(
        self,
        command: Sequence[str],
        guard: Mapping[str, str],
        environment: Mapping[str, str],
        deadline: timedelta = DEADLINE,
        at_once: int = 16,
    ) -> None:
        """`command` starts a child, which is given `guard`: the addresses it may connect to."""
        self._command = command
        self._guard = guard
        self._environment = {name: environment[name] for name in _PASSED_ON if name in environment}
        self._deadline = deadline
        self._room = asyncio.Semaphore(at_once)

    async def check(self, url: Secret) -> CheckedUrl:
        if not 1 <= len(url.value) <= MAX_URL or not url.value.isprintable():
            raise InvalidInput("url", MASKED, f"1 to {MAX_URL} characters on one line")
        try:
            answer = await self._ask({"mode": "check", "url": url.value})
        except TimeoutError:
            raise Refused("the URL could not be checked in time; try again") from None
        if "shown" not in answer:
            error = without_secrets(answer.get("error") or "it cannot be read", url)
            why = answer.get("refused") or error  # a refusal is in words of ours
            fix = f"{why}; an apprise URL such as slack://… or mailto://…"
            raise InvalidInput("url", MASKED, fix)
        return CheckedUrl(answer["service"], answer["shown"])

    async def send(self, url: Secret, message: Message) -> Attempt:
        request = {
            "mode": "send",
            "url": url.value,
            "title": message.title,
            "body": message.body,
            "severity": message.severity,
        }
        try:
            answer = await self._ask(request)
        except TimeoutError:
            return Attempt(f"it was not taken within {humanize(self._deadline)}")
        if "refused" in answer:
            return Attempt(answer["refused"], is_final=True)
        error = answer.get("error")
        return Attempt(None if error is None else without_secrets(error, url))

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        async with self._room, asyncio.timeout(self._deadline.total_seconds()):
            child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,  # it may hold what is secret
                env=self._environment,
                start_new_session=True,
            )
            try:
                text = json.dumps({**request, **self._guard}).encode()
                out, _ = await child.communicate(text)
            finally:
                if child.returncode is None:
                    with suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)
                    await asyncio.shield(child.wait())
        try:
            return json.loads(out)
        except ValueError:
            return {"error": f"the sending program ended with {child.returncode}"}


def without_secrets(text: str, url: Secret) -> str:
    """No part of a channel's URL is ever shown: any of them may be the token."""
    written = [part for part in re.split(r"[/:@?&=#+]+", url.value) if len(part) >= MIN_SECRET]
    for part in sorted({*written, *map(unquote, written), url.value}, key=len, reverse=True):
        if part.lower() not in _NO_SECRETS:
            text = text.replace(part, MASKED)
    return text
