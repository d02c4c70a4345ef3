"""What a token of the provider must be, so that somebody is let in for it."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cadenza.adapters.oidc import fetching
from cadenza.adapters.oidc.provider import OidcOptions, OidcProvider
from cadenza.application.ports.identity import IdentityRefused, ProviderUnavailable
from tests.adapters.oidc.issuing import ATTEMPT, CLIENT, Issuer, issuing

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AT = NOW.timestamp()


class Ticking:
    """Our own clock, which only moves when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as issuer:
        yield issuer


def provider_of(
    issuer: Issuer, ticking: Ticking | None = None, secret: str | None = "s3:cret"
) -> OidcProvider:
    options = OidcOptions(issuer.url, CLIENT, secret)
    return OidcProvider(options, lambda: NOW, ticking or Ticking())


async def test_a_good_token_tells_who_somebody_is(issuer: Issuer) -> None:
    claims = issuer.claims(AT, groups=["team", 5])
    issuer.token = lambda: issuer.signed(claims)
    who = await provider_of(issuer).identity_of("the-code", ATTEMPT)
    assert who.identity == (issuer.url, "42")
    assert who.email == "ada@example.org"
    assert who.groups == {"team"}
    asked = issuer.asked[0]
    assert (asked["code"], asked["code_verifier"]) == ("the-code", ATTEMPT.verifier)
    assert base64.b64decode(asked["authorization"].split()[1]) == b"cadenza:s3%3Acret"


async def test_the_address_asks_for_a_code_with_pkce(issuer: Issuer) -> None:
    address = await provider_of(issuer, secret=None).address(ATTEMPT)
    query = {name: value[0] for name, value in parse_qs(urlsplit(address).query).items()}
    assert query["response_type"] == "code"
    assert query["code_challenge_method"] == "S256"
    assert query["code_challenge"] not in (ATTEMPT.verifier, "")
    assert (query["state"], query["nonce"]) == (ATTEMPT.state, ATTEMPT.nonce)
    assert ATTEMPT.verifier not in address


HOSTILE: dict[str, dict[str, Any]] = {
    "of another issuer": {"iss": "https://evil.example"},
    "for another audience": {"aud": "other"},
    "for no audience": {"aud": ...},
    "of several audiences and no party": {"aud": [CLIENT, "other"]},
    "for another party": {"azp": "other"},
    "of another sign-in": {"nonce": "x" * 43},
    "without a nonce": {"nonce": ...},
    "with a nonce that is a list": {"nonce": [ATTEMPT.nonce]},
    "that has expired": {"exp": int(AT) - 61},
    "without an end": {"exp": ...},
    "with an end that is a word": {"exp": "never"},
    "with an end that is no number": {"exp": float("inf")},
    "from the future": {"iat": int(AT) + 120, "exp": int(AT) + 900},
    "that counts later": {"nbf": int(AT) + 120},
    "that is old": {"iat": int(AT) - 3600},
    "without a subject": {"sub": ...},
    "with an empty subject": {"sub": ""},
    "with an endless subject": {"sub": "x" * 300},
    "with a subject that no database stores": {"sub": "ada\x00"},
    "with half a character as its subject": {"sub": "\ud800"},
    "with half a character as its nonce": {"nonce": "\ud800"},
    "whose address nobody verified": {"email_verified": False},
    "whose address is verified in words": {"email_verified": "true"},
    "that does not say so": {"email_verified": ...},
    "without an address": {"email": ...},
    "with an address that is none": {"email": "ada"},
}


@pytest.mark.parametrize("changed", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_token_is_refused(issuer: Issuer, changed: dict[str, Any]) -> None:
    claims = issuer.claims(AT, **changed)
    issuer.token = lambda: issuer.signed(claims)
    with pytest.raises(IdentityRefused):
        await provider_of(issuer).identity_of("code", ATTEMPT)


async def test_clocks_may_differ_by_a_minute(issuer: Issuer) -> None:
    early = issuer.claims(AT + 55)
    issuer.token = lambda: issuer.signed(early)
    await provider_of(issuer).identity_of("code", ATTEMPT)
    late = issuer.claims(AT, exp=int(AT) - 55)
    issuer.token = lambda: issuer.signed(late)
    await provider_of(issuer).identity_of("code", ATTEMPT)


async def test_a_token_without_a_signature_is_refused(issuer: Issuer) -> None:
    issuer.token = lambda: jwt.encode(issuer.claims(AT), None, "none", {"kid": "first"})
    with pytest.raises(IdentityRefused):
        await provider_of(issuer).identity_of("code", ATTEMPT)


async def test_a_public_key_is_no_shared_secret(issuer: Issuer) -> None:
    """The oldest trick: HS256 with the public key, which everybody has, as the secret."""
    public = issuer.keys["first"].public_key()
    secret = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    issuer.token = lambda: _hmac_signed(issuer.claims(AT), secret)
    with pytest.raises(IdentityRefused):
        await provider_of(issuer).identity_of("code", ATTEMPT)


def _hmac_signed(claims: dict[str, Any], secret: bytes) -> str:
    """By hand: the library refuses to do it."""
    import hmac

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    signed = f"{part({'alg': 'HS256', 'kid': 'first'})}.{part(claims)}"
    digest = hmac.digest(secret, signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


async def test_a_token_of_another_key_under_a_known_name_is_refused(issuer: Issuer) -> None:
    async with issuing() as evil:
        claims = issuer.claims(AT)
        issuer.token = lambda: evil.signed(claims)
        with pytest.raises(IdentityRefused):
            await provider_of(issuer).identity_of("code", ATTEMPT)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é.é.é", "." * 50, "e30.e30.e30"])
async def test_what_is_no_token_is_refused(issuer: Issuer, token: str) -> None:
    issuer.token = lambda: token
    with pytest.raises(IdentityRefused):
        await provider_of(issuer).identity_of("code", ATTEMPT)


async def test_a_key_that_was_rotated_in_is_fetched_once_and_not_for_every_stranger(
    issuer: Issuer,
) -> None:
    ticking = Ticking()
    provider = provider_of(issuer, ticking)
    issuer.token = lambda: issuer.signed(issuer.claims(AT))
    await provider.identity_of("code", ATTEMPT)
    issuer.add_key("second", "EC")
    issuer.token = lambda: issuer.signed(issuer.claims(AT), "second", "ES256")
    with pytest.raises(IdentityRefused):  # it has just looked
        await provider.identity_of("code", ATTEMPT)
    ticking.seconds += 6
    await provider.identity_of("code", ATTEMPT)
    assert issuer.key_fetches == 2
    del issuer.keys["first"]
    issuer.add_key("unknown")
    unknown = issuer.signed(issuer.claims(AT), "unknown")
    del issuer.keys["unknown"]
    issuer.token = lambda: unknown
    for _ in range(5):
        with pytest.raises(IdentityRefused):
            await provider.identity_of("code", ATTEMPT)
    assert issuer.key_fetches == 2


async def test_a_refused_code_is_told_to_the_person(issuer: Issuer) -> None:
    issuer.refusal = {"error": "invalid_grant", "error_description": "<b>secret</b>"}
    with pytest.raises(IdentityRefused, match="invalid_grant"):
        await provider_of(issuer).identity_of("code", ATTEMPT)


async def test_a_refusal_with_half_a_character_is_no_answer(issuer: Issuer) -> None:
    issuer.refusal = {"error": "\ud800"}
    with pytest.raises(ProviderUnavailable, match="no JSON"):
        await provider_of(issuer).identity_of("code", ATTEMPT)


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "https://[half"},
        {"authorization_endpoint": "https://login.example/\ud800"},
    ],
)
async def test_a_discovery_document_that_leads_elsewhere_is_not_followed(
    issuer: Issuer, changed: dict[str, Any]
) -> None:
    issuer.discovery = changed
    with pytest.raises(ProviderUnavailable):
        await provider_of(issuer).address(ATTEMPT)


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b" " * (300 * 1024), b"[" * 100_000])
async def test_an_answer_that_is_no_document_is_refused(issuer: Issuer, body: bytes) -> None:
    issuer.body = body
    with pytest.raises(ProviderUnavailable):
        await provider_of(issuer).address(ATTEMPT)


async def test_a_provider_that_does_not_answer_is_given_up(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "DEADLINE", 0.05)
    issuer.holds = asyncio.Event()
    with pytest.raises(ProviderUnavailable, match="did not answer"):
        await provider_of(issuer).address(ATTEMPT)
    issuer.holds.set()


async def test_one_that_is_away_says_so() -> None:
    options = OidcOptions("http://127.0.0.1:9", CLIENT)
    provider = OidcProvider(options, lambda: NOW + timedelta(0), Ticking())
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await provider.address(ATTEMPT)
