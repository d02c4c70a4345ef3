"""What a worker may call, and how: the guard, signatures, and commands where they are allowed."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.http.addresses import AddressPolicy, parse_networks, parse_ports
from cadenza.adapters.http.dispatcher import HttpDispatcher
from cadenza.adapters.shell.dispatcher import ShellDispatcher, ShellRules
from cadenza.adapters.shell.environment import allowed_environment
from cadenza.adapters.signing.cache import CachedSigningKeys
from cadenza.adapters.signing.standard_webhooks import StandardWebhooksSigner
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.signing_keys import SigningKeys
from cadenza.domain.target import HttpTarget, ShellTarget, Target
from cadenza.roots.settings import Settings


@asynccontextmanager
async def dispatcher(
    settings: Settings, signing_keys: SigningKeys, clock: Clock
) -> AsyncGenerator[RoutedDispatcher]:
    keys = CachedSigningKeys(signing_keys)
    http = HttpDispatcher(
        address_policy(settings), StandardWebhooksSigner(keys), clock, CelExpressions()
    )
    serving: dict[type[Target], Dispatcher] = {HttpTarget: http}
    if settings.shell_allowed:
        serving[ShellTarget] = ShellDispatcher(shell_rules(settings))
    try:
        yield RoutedDispatcher(serving)
    finally:
        await http.close()


def address_policy(settings: Settings) -> AddressPolicy:
    return AddressPolicy(
        parse_networks(settings.allowed_networks), parse_ports(settings.closed_ports)
    )


def shell_rules(settings: Settings) -> ShellRules:
    folders = tuple(Path(folder) for folder in words(settings.shell_folders))
    environment = allowed_environment(words(settings.shell_environment), os.environ)
    return ShellRules(folders=folders, environment=environment, path=settings.shell_path)


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
