"""Whom a provider's word makes somebody here, on either store."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest

from cadenza.application.ports.identity import IdentityRefused, SignInAttempt, VerifiedIdentity
from cadenza.application.provider_sign_ins import (
    ProviderRules,
    ProviderSignIns,
    SeveralTenants,
    attempt_of,
    is_state,
)
from cadenza.domain.access import Identity, User
from cadenza.domain.errors import NotAllowed
from cadenza.domain.people import Role
from tests.web.support import House, Site

ATTEMPT = attempt_of("x" * 43, "http://here/back")
ISSUER = "https://login.example"


@dataclass
class Vouching:
    """Says what it is told to say."""

    who: VerifiedIdentity
    name: str = "login.example"

    async def address(self, _attempt: SignInAttempt) -> str:
        return ISSUER

    async def identity_of(self, _code: str, _attempt: SignInAttempt) -> VerifiedIdentity:
        return self.who


def sign_ins(site: Site, subject: str, email: str, *groups: str, **rules: Any) -> ProviderSignIns:
    who = VerifiedIdentity(Identity(ISSUER, subject), email, frozenset(groups))
    dependencies, stores = site.app.state.dependencies, site.backend.stores
    return ProviderSignIns(
        Vouching(who),
        stores.store,
        stores.people,
        dependencies.invitations,
        ProviderRules(**rules),
        dependencies.around.new_id,
    )


async def add(site: Site, house: House, email: str, role: Role = Role.VIEWER) -> User:
    async with site.backend.store.transaction() as tx:
        new_id = site.app.state.dependencies.around.new_id()
        user = User(new_id, house.tenant_id, email, await tx.time(), role, {}, email)
        await tx.insert_user(user)
    return user


async def come(provided: ProviderSignIns, tenant: str | None = None, link: str = "") -> UUID:
    return await provided.user_of("code", ATTEMPT, link or None, tenant)


async def test_the_first_sign_in_binds_who_somebody_is(site: Site) -> None:
    user = await add(site, site.ours, "ann@example.org")
    assert await come(sign_ins(site, "1", "ann@example.org")) == user.id
    assert await come(sign_ins(site, "1", "ann.new@example.org")) == user.id
    with pytest.raises(IdentityRefused):  # somebody else who was given the address later
        await come(sign_ins(site, "2", "ann@example.org"))
    people = (await site.ours.done("GET", "/people"))["items"]
    assert [person["uses_provider"] for person in people if person["name"] == user.name] == [True]


@dataclass
class Meanwhile:
    """Reads people, and then something happens before anybody does anything about it."""

    people: Any
    change: Callable[[User], Awaitable[None]]

    async def users_at_provider(self, identity: Identity, email: str) -> Any:
        found = await self.people.users_at_provider(identity, email)
        await self.change(found[0][0])
        return found


async def test_a_role_that_is_taken_away_during_the_first_sign_in_stays_away(site: Site) -> None:
    user = await add(site, site.ours, "ann@example.org", Role.OPERATOR)

    async def demote(found: User) -> None:
        async with site.backend.store.transaction() as tx:
            await tx.save_user(replace(found, role=Role.VIEWER))

    provided = sign_ins(site, "1", "ann@example.org")
    provided = replace(provided, people=Meanwhile(provided.people, demote))  # type: ignore[arg-type]
    assert await come(provided) == user.id
    async with site.backend.store.transaction() as tx:
        stored = await tx.get_user(user.tenant_id, user.id)
    assert (stored.role, stored.identity) == (Role.VIEWER, Identity(ISSUER, "1"))


async def test_of_two_who_come_first_with_one_address_only_one_is_bound(site: Site) -> None:
    user = await add(site, site.ours, "ann@example.org")

    async def bind(found: User) -> None:
        async with site.backend.store.transaction() as tx:
            await tx.save_user(replace(found, identity=Identity(ISSUER, "2")))

    provided = sign_ins(site, "1", "ann@example.org")
    provided = replace(provided, people=Meanwhile(provided.people, bind))  # type: ignore[arg-type]
    with pytest.raises(IdentityRefused):
        await come(provided)
    assert await come(sign_ins(site, "2", "ann@example.org")) == user.id


async def test_who_is_in_several_tenants_says_which(site: Site) -> None:
    ours = await add(site, site.ours, "ann@example.org")
    theirs = await add(site, site.theirs, "ann@example.org")
    with pytest.raises(SeveralTenants) as raised:
        await come(sign_ins(site, "1", "ann@example.org"))
    assert sorted(raised.value.names) == ["ours", "theirs"]
    assert await come(sign_ins(site, "1", "ann@example.org"), "ours") == ours.id
    assert await come(sign_ins(site, "1", "ann@example.org"), "theirs") == theirs.id
    with pytest.raises(IdentityRefused):
        await come(sign_ins(site, "1", "ann@example.org"), "nowhere")


async def test_a_domain_and_a_group_make_somebody_new(site: Site) -> None:
    rules: dict[str, Any] = {"tenants_of_domains": {"example.org": "ours"}}
    rules["roles_of_groups"] = {"team": Role.OPERATOR, "admins": Role.OWNER}
    user_id = await come(sign_ins(site, "1", "ann@example.org", "team", **rules))
    assert await _role(site, user_id) is Role.OPERATOR
    await come(sign_ins(site, "1", "ann@example.org", "team", "admins", **rules))
    assert await _role(site, user_id) is Role.OWNER
    await come(sign_ins(site, "1", "ann@example.org", **rules))
    assert await _role(site, user_id) is Role.OWNER  # no group says otherwise
    plain = await come(sign_ins(site, "2", "bob@example.org", **rules))
    assert await _role(site, plain) is Role.VIEWER
    for email in ("eve@example.org.evil", "eve@evilexample.org", "example.org@evil.example"):
        with pytest.raises(IdentityRefused):
            await come(sign_ins(site, "3", email, **rules))


async def test_a_group_does_not_take_the_last_owner_away(site: Site) -> None:
    owner = await add(site, site.ours, "ann@example.org", Role.OWNER)
    rules = {"roles_of_groups": {"team": Role.VIEWER}}
    await site.ours.done("PUT", f"/people/{site.ours.user_id}/role", {"role": "viewer"})
    await come(sign_ins(site, "1", "ann@example.org", "team", **rules))
    assert await _role(site, owner.id) is Role.OWNER


async def test_an_invitation_is_for_the_address_that_the_provider_has_verified(site: Site) -> None:
    body = {"email": "eve@example.org", "role": "operator"}
    link = (await site.ours.done("POST", "/invitations", body))["path"].removeprefix("/join/")
    with pytest.raises(NotAllowed):
        await come(sign_ins(site, "1", "mallory@example.org"), link=link)
    user_id = await come(sign_ins(site, "2", "eve@example.org"), link=link)
    assert await _role(site, user_id) is Role.OPERATOR
    assert await come(sign_ins(site, "2", "eve@example.org"), link=link) == user_id


async def _role(site: Site, user_id: UUID) -> Role | None:
    match = await site.backend.stores.keys.find_user(user_id)
    assert match is not None
    return match[0].role


def test_a_state_is_good_for_one_secret_alone() -> None:
    other = attempt_of("y" * 43, "http://here/back")
    assert is_state(ATTEMPT.state, ATTEMPT)
    assert not is_state(other.state, ATTEMPT)
    assert len({ATTEMPT.state, ATTEMPT.nonce, ATTEMPT.verifier}) == 3
    assert len(ATTEMPT.verifier) >= 43
