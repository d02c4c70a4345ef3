"""One OpenID provider: its discovery document, where to sign in, and what its token says."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import jwt

from cadenza.adapters.oidc.fetching import check_address, fetch_json
from cadenza.adapters.oidc.keys import ALGORITHMS, ProviderKeys
from cadenza.application.ports.identity import (
    IdentityRefused,
    ProviderUnavailable,
    SignInAttempt,
    VerifiedIdentity,
)
from cadenza.domain.access import Identity
from cadenza.domain.errors import InvalidInput
from cadenza.domain.people import normal_email

SKEW = 60.0  # seconds that the provider's clock and ours may differ
OLDEST = 600.0  # seconds since a token was issued
FRESH_FOR = 3600.0  # of the discovery document
LONGEST_SUBJECT = 255
MOST_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class OidcOptions:
    issuer: str
    client_id: str
    client_secret: str | None = None  # None: a public client, which PKCE alone proves
    groups_claim: str = "groups"


class OidcProvider:
    def __init__(
        self,
        options: OidcOptions,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        self._options = options
        self._now = now
        self._monotonic = monotonic
        self._keys = ProviderKeys(monotonic)
        self._discovered: dict[str, Any] | None = None
        self._discovered_at = 0.0

    @property
    def name(self) -> str:
        return urlsplit(self._options.issuer).hostname or self._options.issuer

    async def address(self, attempt: SignInAttempt) -> str:
        document = await self._document()
        challenge = urlsafe_b64encode(sha256(attempt.verifier.encode()).digest()).rstrip(b"=")
        query = urlencode(
            {
                "response_type": "code",
                "client_id": self._options.client_id,
                "redirect_uri": attempt.redirect_uri,
                "scope": "openid email",
                "state": attempt.state,
                "nonce": attempt.nonce,
                "code_challenge": challenge.decode(),
                "code_challenge_method": "S256",
            }
        )
        endpoint = document["authorization_endpoint"]
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"

    async def identity_of(self, code: str, attempt: SignInAttempt) -> VerifiedIdentity:
        document = await self._document()
        token = await self._token(document, code, attempt)
        claims = await self._claims(document, token, attempt.nonce)
        return self._identity(claims)

    async def _document(self) -> dict[str, Any]:
        """Asked for when somebody signs in, not when the program starts: it may be away."""
        fresh = self._monotonic() - self._discovered_at < FRESH_FOR
        if self._discovered is not None and fresh:
            return self._discovered
        issuer = self._options.issuer
        document = await fetch_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if document.get("issuer") != issuer:
            raise ProviderUnavailable("its discovery document is of another issuer")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            address = document.get(name)
            if not isinstance(address, str):
                raise ProviderUnavailable(f"its discovery document has no {name}")
            check_address(address)
        self._discovered, self._discovered_at = document, self._monotonic()
        return document

    async def _token(self, document: dict[str, Any], code: str, attempt: SignInAttempt) -> str:
        options = self._options
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        authorization: str | None = None
        methods = document.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if options.client_secret is None:
            form["client_id"] = options.client_id
        elif "client_secret_basic" in methods:
            # RFC 6749, 2.3.1: both are encoded as in a form.
            pair = f"{quote(options.client_id, safe='')}:{quote(options.client_secret, safe='')}"
            authorization = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": options.client_id, "client_secret": options.client_secret}
        answer = await fetch_json(document["token_endpoint"], form, authorization)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise IdentityRefused("the provider sent no id_token")
        return token

    async def _claims(self, document: dict[str, Any], token: str, nonce: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            raise IdentityRefused("the provider's token cannot be read") from error
        key = await self._keys.find(document["jwks_uri"], header)
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=sorted(ALGORITHMS),
                audience=self._options.client_id,
                issuer=self._options.issuer,
                leeway=SKEW,
                # The times are checked below, by the clock that everything here goes by.
                options={
                    "require": ["exp", "iat", "iss", "aud", "sub"],
                    "verify_exp": False,
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            why = f"the provider's token is not valid ({type(error).__name__})"
            raise IdentityRefused(why) from error
        self._check_times(claims)
        self._check_party(claims)
        sent = claims.get("nonce")
        if not isinstance(sent, str) or not sent.isascii() or not compare_digest(sent, nonce):
            raise IdentityRefused("the provider's token is for another sign-in")
        return claims

    def _check_times(self, claims: dict[str, Any]) -> None:
        now = self._now().timestamp()
        expires, issued = _number(claims, "exp"), _number(claims, "iat")
        begins = _number(claims, "nbf") if "nbf" in claims else issued
        if expires + SKEW <= now or issued + OLDEST + SKEW < now:
            raise IdentityRefused("the provider's token has expired; sign in again")
        if max(issued, begins) > now + SKEW:
            raise IdentityRefused("the provider's token is from the future: compare the clocks")

    def _check_party(self, claims: dict[str, Any]) -> None:
        """Of several audiences, the one that it was issued for must be us."""
        party, audience = claims.get("azp"), claims.get("aud")
        several = isinstance(audience, list) and len(cast("list[object]", audience)) > 1
        if (party is not None or several) and party != self._options.client_id:
            raise IdentityRefused("the provider's token is for another application")

    def _identity(self, claims: dict[str, Any]) -> VerifiedIdentity:
        subject, email = claims["sub"], claims.get("email")
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
            raise IdentityRefused("the provider's token names nobody")
        if not subject.isprintable():  # no database stores a NUL or half a character
            raise IdentityRefused("the provider's token names somebody with unusable characters")
        if claims.get("email_verified") is not True or not isinstance(email, str):
            raise IdentityRefused("the provider has not verified your mail address")
        try:
            address = normal_email(email)
        except InvalidInput as error:
            raise IdentityRefused("the provider's token has no usable mail address") from error
        groups = claims.get(self._options.groups_claim)
        named = cast("list[object]", groups)[:MOST_GROUPS] if isinstance(groups, list) else []
        identity = Identity(self._options.issuer, subject)
        return VerifiedIdentity(
            identity, address, frozenset(group for group in named if isinstance(group, str))
        )


def _number(claims: dict[str, Any], name: str) -> float:
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise IdentityRefused(f"the provider's token has no valid {name}")
    return float(value)
