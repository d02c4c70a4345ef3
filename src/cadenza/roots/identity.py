"""The OpenID provider of the settings, where there is one, and what is made of what it says."""

import time

from cadenza.application.ports.clock import Clock
from cadenza.application.ports.identity import IdentityProvider
from cadenza.application.provider_sign_ins import ProviderRules
from cadenza.domain.errors import InstallationError
from cadenza.domain.people import Role
from cadenza.roots.settings import Settings


def identity_provider(settings: Settings, clock: Clock) -> IdentityProvider | None:
    if settings.oidc_issuer is None:
        return None
    if settings.oidc_client_id is None:
        raise InstallationError("CADENZA_OIDC_ISSUER is set, but not CADENZA_OIDC_CLIENT_ID")
    try:
        from cadenza.adapters.oidc.provider import (  # noqa: PLC0415 - an extra
            OidcOptions,
            OidcProvider,
        )
    except ImportError as error:
        why = "Signing in at a provider needs more: pip install 'cadenza[oidc]'"
        raise InstallationError(why) from error
    secret = settings.oidc_client_secret
    options = OidcOptions(
        settings.oidc_issuer,
        settings.oidc_client_id,
        secret.get_secret_value() if secret is not None else None,
    )
    return OidcProvider(options, clock.now, time.monotonic)


def provider_rules(settings: Settings) -> ProviderRules:
    """InstallationError names what cannot be read."""
    groups = _pairs("CADENZA_OIDC_GROUPS", settings.oidc_groups)
    unknown = [role for role in groups.values() if role not in list(Role)]
    if unknown:
        why = f"CADENZA_OIDC_GROUPS: {unknown[0]!r} is no role: viewer, operator or owner"
        raise InstallationError(why)
    roles = {group: Role(role) for group, role in groups.items()}
    domains = _pairs("CADENZA_OIDC_DOMAINS", settings.oidc_domains)
    return ProviderRules(roles, {name.lower(): tenant for name, tenant in domains.items()})


def _pairs(variable: str, text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for piece in filter(None, map(str.strip, text.split(","))):
        name, equals, value = piece.rpartition("=")
        if not equals or not name.strip() or not value.strip():
            raise InstallationError(f"{variable}: {piece!r}: write pairs, like name=value")
        pairs[name.strip()] = value.strip()
    return pairs
