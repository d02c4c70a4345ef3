"""A provider of our own that lies as it is told to: real HTTP, real keys, hostile tokens."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from cadenza.application.ports.identity import SignInAttempt

CLIENT, NONCE = "cadenza", "n" * 43
ATTEMPT = SignInAttempt("s" * 43, NONCE, "v" * 43, "http://dashboard/sign-in/provider/back")


@dataclass
class Issuer:
    url: str = ""
    keys: dict[str, Any] = field(default_factory=dict[str, Any])  # private ones, by their name
    discovery: dict[str, Any] = field(default_factory=dict[str, Any])  # what is changed of it
    token: Callable[[], str] = lambda: ""
    refusal: dict[str, Any] | None = None
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    key_fetches: int = 0
    body: bytes | None = None  # of the discovery document, in place of what it should be
    holds: asyncio.Event | None = None

    def add_key(self, name: str = "first", kind: str = "RSA") -> None:
        if kind == "RSA":
            self.keys[name] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        else:
            self.keys[name] = ec.generate_private_key(ec.SECP256R1())

    def claims(self, now: float, **changed: Any) -> dict[str, Any]:
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "42",
            "iat": int(now),
            "exp": int(now) + 300,
            "nonce": NONCE,
            "email": "Ada@Example.org",
            "email_verified": True,
            **changed,
        }
        return {name: value for name, value in claims.items() if value is not ...}

    def signed(self, claims: dict[str, Any], name: str = "first", algorithm: str = "RS256") -> str:
        return jwt.encode(claims, self.keys[name], algorithm, {"kid": name})

    def jwks(self) -> list[dict[str, Any]]:
        documents: list[dict[str, Any]] = []
        for name, key in self.keys.items():
            public, is_rsa = key.public_key(), isinstance(key, rsa.RSAPrivateKey)
            text = RSAAlgorithm.to_jwk(public) if is_rsa else ECAlgorithm.to_jwk(public)
            documents.append({**json.loads(text), "kid": name, "use": "sig"})
        return documents


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    issuer = Issuer()

    async def discovery(_request: web.Request) -> web.Response:
        if issuer.holds is not None:
            await issuer.holds.wait()
        if issuer.body is not None:
            return web.Response(body=issuer.body, content_type="application/json")
        document = {
            "issuer": issuer.url,
            "authorization_endpoint": f"{issuer.url}/auth",
            "token_endpoint": f"{issuer.url}/token",
            "jwks_uri": f"{issuer.url}/jwks",
            **issuer.discovery,
        }
        return web.json_response(document)

    async def token(request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        issuer.asked.append({**form, "authorization": request.headers.get("authorization", "")})
        if issuer.refusal is not None:
            return web.json_response(issuer.refusal, status=400)
        return web.json_response({"id_token": issuer.token(), "token_type": "Bearer"})

    async def jwks(_request: web.Request) -> web.Response:
        issuer.key_fetches += 1
        return web.json_response({"keys": issuer.jwks()})

    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", discovery)
    app.router.add_post("/token", token)
    app.router.add_get("/jwks", jwks)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    _, port = runner.addresses[0][:2]
    issuer.url = f"http://127.0.0.1:{port}"
    issuer.add_key()
    try:
        yield issuer
    finally:
        await runner.cleanup()
