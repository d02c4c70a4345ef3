"""What errors repeat of the values that they refuse: never a secret."""

import pytest

from cadenza.domain.errors import InvalidInput

SECRET = "5e5ame-0pen"


@pytest.mark.parametrize(
    "field",
    [
        "password", "jobs[0].endpoints[2].password", "secret_key", "secret_headers.X-Key",
        "headers.Authorization", "headers.x-api-key", "headers.Cookie", "passwd", "api_key",
        "headers.X-Auth-Token",
    ],
)  # fmt: skip
def test_a_field_that_holds_a_secret_is_masked_by_its_name(field: str) -> None:
    error = InvalidInput(field, SECRET, "write it otherwise")
    assert SECRET not in f"{error} {error.value!r}"
    assert str(error).startswith(field)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"slack://{SECRET}/T/C", "slack://***"),
        (f"mailtos://user:{SECRET}@example.org", "mailtos://***"),
        (f"http://user:{SECRET}@h/a b", "http://***@h/a b"),
        (f"amqp://user:{SECRET}@h:99999", "amqp://***@h:99999"),
    ],
)
def test_of_an_address_its_secret_part_is_masked(url: str, shown: str) -> None:
    error = InvalidInput("url", url, "write it otherwise")
    assert error.value == shown
    assert SECRET not in str(error)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tokens_per_day", "many"),
        ("secret_headers", "X Key"),  # the name of a header, not its value
        ("url", "http://h/a@b c"),
        ("cursor", "x"),
        ("name", "a/b"),
    ],
)
def test_everything_else_is_quoted(field: str, value: str) -> None:
    assert InvalidInput(field, value, "write it otherwise").value == value
