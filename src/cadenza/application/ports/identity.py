"""Who vouches for people: an OpenID provider that the installation has chosen."""

from dataclasses import dataclass
from typing import Protocol

from cadenza.domain.access import Identity


class ProviderUnavailable(Exception):
    """It does not answer, or not as it should; the text says why, and holds no secret."""


class IdentityRefused(Exception):
    """What came back proves nothing; the text is for the person who signs in."""


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    identity: Identity
    email: str  # verified by the provider, in lower case
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """What ties an answer of the provider to the browser that asked; from one secret of chance."""

    state: str
    nonce: str
    verifier: str
    redirect_uri: str


class IdentityProvider(Protocol):
    @property
    def name(self) -> str:
        """As people see it: the provider's host."""
        ...

    async def address(self, attempt: SignInAttempt) -> str:
        """Where the browser is sent. ProviderUnavailable."""
        ...

    async def identity_of(self, code: str, attempt: SignInAttempt) -> VerifiedIdentity:
        """Who came back with the code. ProviderUnavailable, IdentityRefused."""
        ...
