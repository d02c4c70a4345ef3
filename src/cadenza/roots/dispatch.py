"""What a worker may call, and how: the guard, signatures, and commands where they are allowed."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from cadenza.adapters.http.addresses import AddressPolicy, parse_networks, parse_ports
from cadenza.adapters.http.admission import GuardedAddresses
from cadenza.adapters.http.answer import MAX_BODY, RawBody
from cadenza.adapters.http.dispatcher import HttpDispatcher
from cadenza.adapters.http.guard import Guard
from cadenza.adapters.messaging.connecting import connect
from cadenza.adapters.messaging.connections import Connections
from cadenza.adapters.messaging.dispatcher import QueueDispatcher
from cadenza.adapters.messaging.replies import Replies
from cadenza.adapters.shell.dispatcher import ShellDispatcher, ShellRules, allowed_environment
from cadenza.adapters.signing.cache import CachedSigningKeys
from cadenza.adapters.signing.standard_webhooks import StandardWebhooksSigner
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.signing_keys import SigningKeys
from cadenza.application.result_waiting import WaitingResults
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import Body
from cadenza.domain.target import HttpTarget, ShellTarget, Target
from cadenza.roots.settings import Settings


@asynccontextmanager
async def dispatcher(
    settings: Settings,
    signing_keys: SigningKeys,
    clock: Clock,
    expressions: Expressions,
    results: WaitingResults | None = None,
) -> AsyncGenerator[RoutedDispatcher]:
    """Where runs may wait for results, they are reported there."""
    networks, ports = parse_networks(settings.allowed_networks), parse_ports(settings.closed_ports)
    signer = StandardWebhooksSigner(CachedSigningKeys(signing_keys))
    policy = AddressPolicy(networks, ports)
    http = HttpDispatcher(policy, signer, clock, expressions, results=results)
    addresses = GuardedAddresses(Guard(policy))
    connections = Connections(connect, addresses)
    replies = None if results is None else Replies(connections, results.report, _parsed)
    queues = QueueDispatcher(connections, signer, clock, results, replies)
    serving: dict[type[Target], Dispatcher] = {HttpTarget: http, QueueTarget: queues}
    if settings.shell_allowed:
        folders = tuple(Path(folder) for folder in words(settings.shell_folders))
        environment = allowed_environment(words(settings.shell_environment), os.environ)
        rules = ShellRules(folders, environment, settings.shell_path)
        serving[ShellTarget] = ShellDispatcher(rules)
    try:
        yield RoutedDispatcher(serving)
    finally:
        if replies is not None:
            await replies.close()
        if results is not None:
            await results.end()
        await connections.close()
        addresses.close()
        await http.close()


def _parsed(raw: bytes) -> Body:
    """As the answer of an HTTP target is."""
    return RawBody(raw[:MAX_BODY], is_cut=len(raw) > MAX_BODY).parsed()


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
