"""Checks of what people write about money: adjustments of a balance, keys of providers."""

import re
from collections.abc import Collection

from cadenza.domain.billing import CHARGE, MAX_CREDITS, Account
from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import HttpTarget, Secret
from cadenza.domain.target_validation import check_http_target

MAX_REASON = 200
MAX_KEY = 4096
HINT_LENGTH = 4
SHORTEST_WITH_HINT = 16  # of a shorter one, four characters would tell too much
# No slash: the references of charges have two, so that nobody can take one in advance.
REFERENCE = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$"
_KEY = re.compile(r"[\x21-\x7e]+")


def check_adjustment(account: Account, amount: int, reason: str, reference: str) -> None:
    if amount == 0 or abs(amount) > MAX_CREDITS:
        raise InvalidInput("credits", amount, f"a whole number up to {MAX_CREDITS:,}, not 0")
    if abs(account.balance + amount) > MAX_CREDITS:
        fix = f"the balance would be beyond {MAX_CREDITS:,}; it is {account.balance:,}"
        raise InvalidInput("credits", amount, fix)
    if not reason or len(reason) > MAX_REASON or not reason.isprintable() or _is_charge(reason):
        fix = f"1 to {MAX_REASON} printable characters, and not {CHARGE!r}"
        raise InvalidInput("reason", reason, fix)
    if not re.fullmatch(REFERENCE, reference):
        fix = "1 to 100 letters, digits, and . _ : - after the first"
        raise InvalidInput("reference", reference, fix)


def check_base_url(url: str, closed_ports: Collection[int]) -> None:
    """As that of a target; a path may follow, but nothing that a path cannot be put behind."""
    try:
        check_http_target(HttpTarget(url), closed_ports=closed_ports)
    except InvalidInput as error:
        raise InvalidInput("base_url", error.value, error.fix) from error
    if "?" in url or "#" in url:
        raise InvalidInput("base_url", url, "an address without ? and #: paths are put behind it")


def check_key(key: Secret) -> None:
    """It is sent in a header."""
    if len(key.value) > MAX_KEY or not _KEY.fullmatch(key.value):
        fix = f"1 to {MAX_KEY} visible ASCII characters, no spaces"
        raise InvalidInput("secret_key", Secret(""), fix)


def hint_of(key: Secret) -> str:
    return key.value[-HINT_LENGTH:] if len(key.value) >= SHORTEST_WITH_HINT else ""


def _is_charge(reason: str) -> bool:
    return reason.strip().casefold() == CHARGE
