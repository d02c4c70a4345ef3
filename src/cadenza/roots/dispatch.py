"""What a worker may call, and how: the guard, signatures, and commands where they are allowed."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from cadenza.adapters.http.addresses import AddressPolicy, parse_networks, parse_ports
from cadenza.adapters.http.dispatcher import HttpDispatcher
from cadenza.adapters.shell.dispatcher import ShellDispatcher, ShellRules, allowed_environment
from cadenza.adapters.signing.cache import CachedSigningKeys
from cadenza.adapters.signing.standard_webhooks import StandardWebhooksSigner
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.signing_keys import SigningKeys
from cadenza.domain.target import HttpTarget, ShellTarget, Target
from cadenza.roots.settings import Settings


@asynccontextmanager
async def dispatcher(
    settings: Settings, signing_keys: SigningKeys, clock: Clock, expressions: Expressions
) -> AsyncGenerator[RoutedDispatcher]:
    networks, ports = parse_networks(settings.allowed_networks), parse_ports(settings.closed_ports)
    signer = StandardWebhooksSigner(CachedSigningKeys(signing_keys))
    http = HttpDispatcher(AddressPolicy(networks, ports), signer, clock, expressions)
    serving: dict[type[Target], Dispatcher] = {HttpTarget: http}
    if settings.shell_allowed:
        folders = tuple(Path(folder) for folder in words(settings.shell_folders))
        environment = allowed_environment(words(settings.shell_environment), os.environ)
        rules = ShellRules(folders, environment, settings.shell_path)
        serving[ShellTarget] = ShellDispatcher(rules)
    try:
        yield RoutedDispatcher(serving)
    finally:
        await http.close()


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
