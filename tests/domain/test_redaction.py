"""Secrets that a target sends back are masked, however it spells them."""

import base64
import html
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.redaction import MASK, redacted
from cadenza.domain.target import Secret
from tests.effort import at_most

TOKEN = 'tr0ub4dor&3/+="ü\\zz'
SECRETS = [Secret(f"Bearer {TOKEN}")]
RAW = TOKEN.encode()


@pytest.mark.parametrize(
    "spelling",
    [
        TOKEN,
        f"Bearer {TOKEN}",
        json.dumps(TOKEN),
        json.dumps(TOKEN, ensure_ascii=False),
        json.dumps(json.dumps({"echo": TOKEN})),
        html.escape(TOKEN),
        quote(TOKEN),
        quote(TOKEN, safe=""),
        quote_plus(TOKEN),
        quote(TOKEN, safe="").lower(),
        base64.b64encode(RAW).decode(),
        base64.urlsafe_b64encode(RAW).decode(),
        base64.b64encode(RAW).decode().rstrip("="),
        base64.b64encode(f"Bearer {TOKEN}".encode()).decode(),
        base64.b64encode(b"u:" + RAW).decode(),
        base64.b64encode(b"us:" + RAW + b"!").decode(),
        base64.urlsafe_b64encode(b"user:" + RAW).decode(),
    ],
)
def test_every_spelling_of_a_secret_is_masked(spelling: str) -> None:
    for text in (spelling, f"you sent {spelling}, no?", f"{spelling}{spelling}"):
        shown = redacted(text, SECRETS)
        assert MASK in shown
        for left in ("tr0ub4d", "dor&3", "b4dor", quote(TOKEN)[:12]):
            assert left.lower() not in shown.lower()
        for shift in range(3):
            encoded = base64.b64encode(bytes(shift) + RAW).decode()
            assert encoded[4:14] not in shown


def test_json_keeps_its_shape() -> None:
    body = {
        "headers": {"authorization": f"Bearer {TOKEN}", "n": [1, 2.5, None, True, TOKEN]},
        f"key {TOKEN}": {"deep": [[f"<{TOKEN}>"]]},
        "": [],
    }
    assert redacted(body, SECRETS) == {
        "headers": {"authorization": MASK, "n": [1, 2.5, None, True, MASK]},
        f"key {MASK}": {"deep": [[f"<{MASK}>"]]},
        "": [],
    }
    assert list(redacted(body, SECRETS)) == ["headers", f"key {MASK}", ""]
    assert body["headers"]["authorization"] == f"Bearer {TOKEN}"  # what came in is not touched


def test_the_parts_of_basic_authentication_are_secrets_too() -> None:
    secret = Secret("Basic " + base64.b64encode(b"aladdin:opensesame").decode())
    assert redacted("hello aladdin, opensesame was right", [secret]) == (
        f"hello aladdin, {MASK} was right"
    )
    assert redacted("aladdin:opensesame", [secret]) == MASK


def test_a_number_that_is_a_secret_is_masked() -> None:
    body = {"pin": 482913, "more": [4829130, 482913.0, 1], "text": "482913"}
    assert redacted(body, [Secret("482913")]) == {
        "pin": MASK,
        "more": [MASK, MASK, 1],
        "text": MASK,
    }


def test_short_secrets_are_masked_as_words_only() -> None:
    body = {"a": "1", "b": "11 and 1, or x1", "n": 1, "m": 21}
    assert redacted(body, [Secret("1")]) == {
        "a": MASK,
        "b": f"11 and {MASK}, or x1",
        "n": MASK,
        "m": 21,
    }


@pytest.mark.parametrize("secrets", [[], [Secret("")], [Secret("  ")]])
def test_without_a_secret_everything_is_given_back_as_it_is(secrets: list[Secret]) -> None:
    body = {"a": ["b", 1]}
    assert redacted(body, secrets) is body


def test_secrets_that_overlap_leave_nothing_of_each_other() -> None:
    secrets = [Secret("alpha-bravo"), Secret("bravo-charlie"), Secret("alpha")]
    assert redacted("x alpha-bravo-charlie alpha y", secrets) == f"x {MASK} {MASK} y"
    assert redacted("aaaaaaaaa", [Secret("aaaa")]) == MASK


@pytest.mark.parametrize("kept", range(8, 25))
def test_a_secret_that_was_cut_off_with_the_body_is_masked(kept: int) -> None:
    secret = "0123456789abcdefghijklmno"
    assert redacted("x" * 50 + secret[:kept], [Secret(secret)]) == "x" * 50 + MASK


def test_a_body_nested_to_its_parsers_limit_is_no_trouble() -> None:
    body: Any = TOKEN
    for _ in range(50_000):
        body = [body]
    shown: Any = redacted(body, SECRETS)
    while isinstance(shown, list):
        shown = shown[0]
    assert shown == MASK


def test_strange_text_is_no_trouble() -> None:
    secrets = [Secret("\ud800\udfff lone"), Secret("\0nul\0"), Secret("Basic ???"), Secret("%zz%2")]
    assert redacted("a \ud800\udfff lone b \0nul\0 %zz%2 \udcff", secrets) == (
        f"a {MASK} b {MASK} {MASK} \udcff"
    )


@given(
    secret=st.text(st.characters(exclude_characters="*"), min_size=4, max_size=40).filter(
        lambda text: len(text.strip()) >= 4
    ),
    before=st.text(max_size=30),
    after=st.text(max_size=30),
)
def test_no_secret_survives_in_any_text(secret: str, before: str, after: str) -> None:
    plain = secret.strip()
    raw = plain.encode("utf-8", "surrogatepass")
    for spelled in (plain, json.dumps(plain)[1:-1], quote(raw, safe="")):
        shown = redacted({before: [before + spelled + after]}, [Secret(secret)])
        assert MASK in str(shown)
        assert all(each not in text for text in _texts(shown) for each in (plain, spelled))


def _texts(shown: dict[str, list[str]]) -> list[str]:
    return [*shown, *(text for texts in shown.values() for text in texts)]


def test_the_largest_body_is_done_in_a_few_milliseconds() -> None:
    text = "lorem ipsum " * 5500
    leaves = ["ab"] * 16_000
    redacted(text, SECRETS)
    with at_most(0.02):
        redacted(text, SECRETS)
    with at_most(0.1):
        redacted(leaves, SECRETS)
