"""Signatures: a receiver in another process checks them, with the library and by hand."""

import asyncio
import base64
import hashlib
import hmac
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.signing.cache import GOOD_FOR_SECONDS, CachedSigningKeys
from cadenza.adapters.signing.standard_webhooks import StandardWebhooksSigner, new_signing_secret
from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.errors import InvalidInput, Refused, StoreUnavailable
from cadenza.domain.signing import (
    MAX_OVERLAP,
    SigningKey,
    keys_that_sign,
    retirement,
    secret_from,
)
from cadenza.domain.target import Secret
from tests.factories import NOON, id_of, make_claim, make_endpoint, minutes, seconds

TENANT = id_of("tenant")
OLD, NEW = (secret_from(bytes(range(n, n + 32))) for n in (1, 101))
BODY = '{"amount": "12 €", "ok": true}'.encode()

# What a receiver does: with the library, and with nothing but the standard library.
RECEIVER = """
import base64, hashlib, hmac, json, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from standardwebhooks import Webhook, WebhookVerificationError

def by_library(secret, headers, body):
    try:
        return Webhook(secret).verify(body, headers, json_parse=False) is None
    except WebhookVerificationError:
        return False

def by_hand(secret, headers, body):
    at = headers["webhook-timestamp"]
    if abs(time.time() - int(at)) > 300:
        return False
    signed = headers["webhook-id"].encode() + b"." + at.encode() + b"." + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers["webhook-signature"].split(" ")
    return any(hmac.compare_digest(wanted, signature) for signature in signatures)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        secret = headers.pop("x-test-secret")
        said = json.dumps([by_library(secret, headers, body), by_hand(secret, headers, body)])
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Keys:
    """Some keys, as if they were stored."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys: Sequence[SigningKey] = keys
        self.asked = 0
        self.away = False
        self.answering = asyncio.Event()
        self.answering.set()

    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        self.asked += 1
        await self.answering.wait()
        if self.away:
            raise StoreUnavailable("away")
        return [key for key in self.keys if key.tenant_id == tenant_id]


def key(
    secret: Secret, created_at: datetime = NOON, retires_at: datetime | None = None
) -> SigningKey:
    return SigningKey(id_of(secret.value), TENANT, secret, created_at, retires_at)


# --- A receiver -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    receiver = subprocess.Popen(
        [sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert receiver.stdout is not None
    try:
        yield int(receiver.stdout.readline())
    finally:
        receiver.kill()
        receiver.wait()
        receiver.stdout.close()


@asynccontextmanager
async def receiving(port: int) -> AsyncIterator["Post"]:
    async with aiohttp.ClientSession() as session:
        yield Post(session, port)


class Post:
    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session = session
        self._url = f"http://127.0.0.1:{port}/"

    async def __call__(self, secret: Secret, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the receiver that has this secret accepts it; both ways of checking agree."""
        signed = {**headers, "x-test-secret": secret.value}
        async with self._session.post(self._url, headers=signed, data=body) as response:
            library, by_hand = await response.json(content_type=None)
        assert library == by_hand
        return library


def slot_key() -> str:
    return make_claim(make_endpoint(), NOON + timedelta(microseconds=123456)).idempotency_key


async def test_a_receiver_verifies_what_was_signed(port: int) -> None:
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    headers = await signer.headers_for(TENANT, slot_key(), wall_clock(), BODY)
    async with receiving(port) as accepted:
        assert await accepted(OLD, headers, BODY)
        assert not await accepted(NEW, headers, BODY)
        assert await accepted(OLD, await signer.headers_for(TENANT, "m", wall_clock(), b""), b"")


async def test_during_a_rotation_a_receiver_with_either_key_accepts(port: int) -> None:
    now = wall_clock()
    signer = StandardWebhooksSigner(
        Keys(key(NEW, now - seconds(5)), key(OLD, now - minutes(60), now + minutes(1)))
    )
    during = await signer.headers_for(TENANT, slot_key(), now, BODY)
    after = await signer.headers_for(TENANT, slot_key(), now + minutes(1), BODY)
    assert len(during["webhook-signature"].split(" ")) == 2
    assert len(after["webhook-signature"].split(" ")) == 1
    async with receiving(port) as accepted:
        assert await accepted(OLD, during, BODY)
        assert await accepted(NEW, during, BODY)
        assert not await accepted(OLD, after, BODY)
        assert await accepted(NEW, after, BODY)


async def test_whatever_is_changed_on_the_way_is_noticed(port: int) -> None:
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    now = wall_clock()
    headers = await signer.headers_for(TENANT, slot_key(), now, BODY)
    changes: list[dict[str, str]] = [
        {"webhook-id": slot_key().replace("123456", "123457")},
        {"webhook-timestamp": str(int(now.timestamp()) + 1)},
        {"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")},
        {"webhook-signature": "v1," + base64.b64encode(bytes(32)).decode()},
        # The full stop of the slot's fraction must not let an id end early.
        {"webhook-id": slot_key().partition(".")[0], "webhook-timestamp": "123456"},
    ]
    async with receiving(port) as accepted:
        assert not await accepted(OLD, headers, BODY + b" ")
        assert not await accepted(OLD, headers, BODY.replace(b"12", b"13"))
        for change in changes:
            assert not await accepted(OLD, {**headers, **change}, BODY), change


async def test_an_old_message_is_not_accepted_again(port: int) -> None:
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    headers = await signer.headers_for(TENANT, slot_key(), wall_clock() - minutes(6), BODY)
    async with receiving(port) as accepted:
        assert not await accepted(OLD, headers, BODY)


async def test_the_code_in_the_documents_verifies_it() -> None:
    text = (Path(__file__).parents[2] / "docs/how-to/verify-signatures.md").read_text()
    code = next(block for block in text.split("```python\n") if "def is_genuine" in block)
    names: dict[str, Any] = {}
    exec(code.partition("```")[0], names)
    signer = StandardWebhooksSigner(Keys(key(OLD), key(NEW)))
    headers = await signer.headers_for(TENANT, slot_key(), wall_clock(), BODY)
    assert names["is_genuine"](OLD.value, headers, BODY)
    assert names["is_genuine"](NEW.value, headers, BODY)
    assert not names["is_genuine"](OLD.value, headers, BODY + b" ")


# --- The headers ----------------------------------------------------------------------------


async def test_the_id_is_the_slot_and_the_timestamp_the_attempt() -> None:
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    first = await signer.headers_for(TENANT, slot_key(), NOON + seconds(1.9), BODY)
    second = await signer.headers_for(TENANT, slot_key(), NOON + seconds(31), BODY)
    assert first["webhook-id"] == second["webhook-id"] == slot_key()
    at = int(NOON.timestamp())
    assert (first["webhook-timestamp"], second["webhook-timestamp"]) == (str(at + 1), str(at + 31))
    assert set(first) == {"webhook-id", "webhook-timestamp", "webhook-signature"}


async def test_a_known_message_has_the_known_signature() -> None:
    secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    signer = StandardWebhooksSigner(Keys(key(secret, datetime.min.replace(tzinfo=NOON.tzinfo))))
    at = datetime.fromtimestamp(1614265330, NOON.tzinfo)
    headers = await signer.headers_for(
        TENANT, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}'
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_the_zone_of_the_instant_does_not_matter() -> None:
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    there = NOON.astimezone(timezone(timedelta(hours=9)))
    assert await signer.headers_for(TENANT, "m", there, BODY) == await signer.headers_for(
        TENANT, "m", NOON, BODY
    )


async def test_a_tenant_without_a_key_sends_no_signature() -> None:
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    assert await signer.headers_for(id_of("another"), "m", NOON, BODY) == {}
    assert await signer.headers_for(TENANT, "m", NOON - seconds(1), BODY) == {}


@settings(max_examples=25)
@given(body=st.text(), message_id=st.text(st.characters(codec="ascii"), min_size=1))
def test_any_text_is_signed_as_the_specification_says(body: str, message_id: str) -> None:
    raw = body.encode()
    signer = StandardWebhooksSigner(Keys(key(OLD)))
    headers = asyncio.run(signer.headers_for(TENANT, message_id, NOON, raw))
    signed = f"{message_id}.{int(NOON.timestamp())}.".encode() + raw
    mac = hmac.new(bytes(range(1, 33)), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(mac).decode()}"


# --- Keys -----------------------------------------------------------------------------------


def test_new_secrets_are_random_and_fit_the_specification() -> None:
    made = {new_signing_secret().value for _ in range(100)}
    assert len(made) == 100
    assert all(secret.startswith("whsec_") for secret in made)
    assert all(len(base64.b64decode(secret.removeprefix("whsec_"))) == 32 for secret in made)


def test_a_key_does_not_show_its_secret() -> None:
    assert OLD.value not in repr(key(OLD))
    assert OLD.value not in str(key(OLD))


def test_a_key_signs_from_its_first_instant_to_just_before_its_last() -> None:
    ending = key(OLD, NOON, NOON + minutes(1))
    instants = (NOON - seconds(1), NOON, NOON + seconds(59), NOON + minutes(1))
    assert [ending.signs_at(at) for at in instants] == [False, True, True, False]


def test_the_newest_key_signs_first_and_never_more_than_two() -> None:
    keys = [key(secret_from(bytes([n]) * 32), NOON + seconds(n)) for n in range(4)]
    assert keys_that_sign(keys, NOON + minutes(1)) == [keys[3], keys[2]]


@given(
    overlaps=st.lists(st.sampled_from([0, 1, 60, 3600]), max_size=8),
    waits=st.lists(st.sampled_from([0, 1, 30, 60, 3600]), min_size=8, max_size=8),
)
def test_after_any_rotations_one_or_two_keys_sign_at_every_instant(
    overlaps: list[int], waits: list[int]
) -> None:
    """The rule as the store applies it, over histories of rotations."""
    keys = [key(OLD)]
    now = NOON
    for overlap, wait in zip(overlaps, waits, strict=False):
        now += seconds(wait)
        try:
            ends_at = retirement(
                [signing_key.retires_at for signing_key in keys], now, seconds(overlap)
            )
        except Refused:
            continue
        keys = [_ended(signing_key, ends_at) for signing_key in keys] + [key(NEW, now)]
    for at in {NOON, now, *(NOON + seconds(n) for n in (1, 30, 59, 60, 61, 3599, 3600, 7200))}:
        signing = [signing_key for signing_key in keys if signing_key.signs_at(at)]
        assert 1 <= len(signing) <= 2


def _ended(old: SigningKey, ends_at: datetime) -> SigningKey:
    end = ends_at if old.retires_at is None else min(old.retires_at, ends_at)
    return key(old.secret, old.created_at, end)


def test_a_third_key_is_refused_while_two_sign_unless_both_end_at_once() -> None:
    ends = [None, NOON + minutes(5)]
    with pytest.raises(Refused, match=r"until 2026-03-02T12:05:00Z.*without an overlap"):
        retirement(ends, NOON, minutes(60))
    assert retirement(ends, NOON, timedelta(0)) == NOON
    assert retirement(ends, NOON + minutes(5), minutes(60)) == NOON + minutes(65)


@pytest.mark.parametrize("overlap", [timedelta(microseconds=-1), MAX_OVERLAP + seconds(1)])
def test_an_overlap_has_its_bounds(overlap: timedelta) -> None:
    with pytest.raises(InvalidInput, match="overlap"):
        retirement([], NOON, overlap)


# --- The cache ------------------------------------------------------------------------------


class Ticks:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


async def test_keys_are_asked_for_once_in_half_a_minute() -> None:
    store, clock = Keys(key(OLD)), Ticks()
    cached = CachedSigningKeys(store, clock)
    for _ in range(1000):
        assert await cached.keys_of(TENANT) == [key(OLD)]
    assert store.asked == 1
    store.keys = (key(NEW), key(OLD))
    clock.at += GOOD_FOR_SECONDS
    assert await cached.keys_of(TENANT) == [key(NEW), key(OLD)]
    assert store.asked == 2


async def test_having_no_key_is_remembered_too() -> None:
    store = Keys()
    cached = CachedSigningKeys(store, Ticks())
    assert [await cached.keys_of(TENANT) for _ in range(3)] == [[], [], []]
    assert store.asked == 1


async def test_many_runs_at_once_ask_one_question_and_one_that_is_cancelled_ends_it_for_none() -> (
    None
):
    store = Keys(key(OLD))
    store.answering.clear()
    cached = CachedSigningKeys(store, Ticks())
    waiting = [asyncio.create_task(cached.keys_of(TENANT)) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    store.answering.set()
    answers: list[Any] = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1:] == [[key(OLD)]] * 49
    assert store.asked == 1


async def test_when_the_store_is_away_old_keys_still_sign_and_unknown_ones_are_an_error() -> None:
    store, clock = Keys(key(OLD)), Ticks()
    cached = CachedSigningKeys(store, clock)
    await cached.keys_of(TENANT)
    store.away = True
    clock.at += GOOD_FOR_SECONDS * 10
    assert await cached.keys_of(TENANT) == [key(OLD)]
    with pytest.raises(StoreUnavailable):
        await cached.keys_of(id_of("another"))
    store.away = False
    store.keys = (key(NEW),)
    assert await cached.keys_of(TENANT) == [key(NEW)]
