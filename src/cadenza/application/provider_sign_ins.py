"""Signing in at the OpenID provider: who somebody is there, and whom that makes here."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from hmac import compare_digest
from hmac import new as hmac_of
from uuid import UUID

from cadenza.application.people import Invitations
from cadenza.application.ports.identity import (
    IdentityProvider,
    IdentityRefused,
    SignInAttempt,
    VerifiedIdentity,
)
from cadenza.application.ports.people import PeopleReads
from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import record
from cadenza.domain.access import Actor, User
from cadenza.domain.people import Role

PROVIDER = Actor("provider", "provider")
UNKNOWN = "nobody here has your address: ask an owner for an invitation"


@dataclass(frozen=True, slots=True)
class ProviderRules:
    """What an installation makes of what its provider says."""

    roles_of_groups: Mapping[str, Role] = field(default_factory=dict[str, Role])
    tenants_of_domains: Mapping[str, str] = field(default_factory=dict[str, str])  # by name

    def role(self, groups: Collection[str]) -> Role | None:
        """The highest that a group gives."""
        order = list(Role)
        roles = [role for group, role in self.roles_of_groups.items() if group in groups]
        return max(roles, key=order.index, default=None)


class SeveralTenants(IdentityRefused):
    """Somebody is in several, and has not said which."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__("you are in several tenants; choose one")
        self.names = names


def attempt_of(secret: str, redirect_uri: str) -> SignInAttempt:
    """All from the one secret that the browser keeps; who has not the cookie cannot go on."""

    def part(name: str) -> str:
        digest = hmac_of(secret.encode(), name.encode(), sha256).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    return SignInAttempt(part("state"), part("nonce"), part("verifier"), redirect_uri)


def is_state(sent: str, attempt: SignInAttempt) -> bool:
    return compare_digest(sent.encode(), attempt.state.encode())


@dataclass(frozen=True, slots=True)
class ProviderSignIns:
    provider: IdentityProvider
    store: Store
    people: PeopleReads
    invitations: Invitations
    rules: ProviderRules
    new_id: Callable[[], UUID]

    async def user_of(
        self, code: str, attempt: SignInAttempt, invitation: str | None, tenant: str | None
    ) -> UUID:
        """ProviderUnavailable or IdentityRefused where they cannot be let in."""
        who = await self.provider.identity_of(code, attempt)
        if invitation is not None:
            user_id = await self.invitations.accept(invitation, who.identity, who.email)
            if user_id is not None:
                return user_id
        return await self._known(who, tenant)

    async def _known(self, who: VerifiedIdentity, tenant: str | None) -> UUID:
        matches = await self.people.users_at_provider(who.identity, who.email)
        if tenant is not None:
            matches = [match for match in matches if match[1] == tenant]
        if len(matches) > 1:
            raise SeveralTenants([name for _, name in matches])
        if matches:
            return await self._signed_in(matches[0][0], who)
        named = self.rules.tenants_of_domains.get(who.email.rpartition("@")[2])
        tenant_id = None if named is None else await self.people.find_tenant(named)
        if tenant_id is None or tenant not in (None, named):
            raise IdentityRefused(UNKNOWN)
        return await self._new(tenant_id, who)

    async def _signed_in(self, user: User, who: VerifiedIdentity) -> UUID:
        """The first time binds the identity; from then on an address that moves on opens nothing.
        A group gives its role each time; where none does, the role stays."""
        if self._as_verified(user, who) == user:
            return user.id
        async with self.store.transaction() as tx:
            await tx.lock_tenant(user.tenant_id)
            before = await tx.get_user(user.tenant_id, user.id)  # an owner may have changed them
            if before.identity not in (None, who.identity):
                raise IdentityRefused(UNKNOWN)  # another was the first
            changed = self._as_verified(before, who)
            if before.role is Role.OWNER and await tx.count_owners(user.tenant_id) == 1:
                changed = replace(changed, role=before.role)  # the last owner stays one
            await tx.save_user(changed)
            data = {"issuer": who.identity.issuer, "role": changed.role}
            await record(tx, PROVIDER, user.tenant_id, "person.sign-in", user.id, data)
        return user.id

    def _as_verified(self, user: User, who: VerifiedIdentity) -> User:
        role = self.rules.role(who.groups)
        return replace(user, identity=who.identity, role=role or user.role)

    async def _new(self, tenant_id: UUID, who: VerifiedIdentity) -> UUID:
        """Somebody of a domain whose people the installation lets in: a viewer, or as their group
        says."""
        async with self.store.transaction() as tx:
            await tx.lock_tenant(tenant_id)
            user = await self._user(tx, tenant_id, who)
            data = {"email": who.email, "issuer": who.identity.issuer, "role": user.role}
            await record(tx, PROVIDER, tenant_id, "person.create", user.id, data)
        return user.id

    async def _user(self, tx: Transaction, tenant_id: UUID, who: VerifiedIdentity) -> User:
        role = self.rules.role(who.groups) or Role.VIEWER
        about = (self.new_id(), tenant_id, who.email, await tx.time(), role)
        user = User(*about, email=who.email, identity=who.identity)
        await tx.insert_user(user)
        return user
