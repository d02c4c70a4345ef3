"""Whether a call is genuine: signature, timestamp, and what it says of itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.errors import CadenzaError, InvalidInput

MAX_BODY = 1024 * 1024  # bytes that are read of a call before it is known whose it is
UNAUTHORIZED, CONFLICT, TOO_LARGE = 401, 409, 413


class Rejected(CadenzaError):
    """Not to be done; the status is what the caller is told."""

    def __init__(self, why: str, status: int = UNAUTHORIZED) -> None:
        self.why = why
        self.status = status
        super().__init__(why)

    @property
    def problem(self) -> bytes:
        """As the body of an answer."""
        return json.dumps({"title": "Rejected", "status": self.status, "detail": self.why}).encode()


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt of a slot. Id and body are signed; the attempt is only said."""

    key: str  # the same for every attempt of a slot
    endpoint_id: str
    slot_at: datetime
    attempt: int
    sent_at: datetime
    body: bytes
    # Where its run waits for a result; like the attempt these are only said.
    run_id: str | None = None
    result_token: str | None = field(default=None, repr=False)
    reply_to: str | None = None

    def json(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """By one signing secret, or by two while they are changed (`cadenza signing-keys`)."""

    def __init__(self, *secrets: str, max_body: int = MAX_BODY) -> None:
        if not secrets:
            raise InvalidInput("secrets", "none", "give the signing secret, like whsec_…")
        self._webhooks = [_webhook(secret) for secret in secrets]
        self.max_body = max_body

    def verify(self, headers: Mapping[str, str], body: bytes) -> Call:
        """Rejected where it was not signed by us, was changed, or is older than five minutes.

        What comes again within that time has the same key: `once` does it once.
        """
        self.check_size(len(body))
        lower = {name.lower(): value for name, value in headers.items()}
        self._check_signature(lower, body)
        return _call(lower, body)

    def verify_message(
        self,
        headers: Mapping[str, str | bytes],
        body: bytes | str,
        max_age: timedelta | None = timedelta(days=7),
    ) -> Call:
        """The same of a message, which may have waited in its queue: it was signed when it was
        published. Rejected where that is longer ago than `max_age`."""
        raw = body.encode() if isinstance(body, str) else body
        self.check_size(len(raw))
        lower = {_text(name).lower(): _text(value) for name, value in headers.items()}
        try:
            sent_at = datetime.fromtimestamp(int(lower["webhook-timestamp"]), UTC)
            signatures, text = lower["webhook-signature"].split(" "), raw.decode()
            wanted = [
                expected.sign(lower["webhook-id"], sent_at, text) for expected in self._webhooks
            ]
        except (KeyError, ValueError, OverflowError, OSError) as error:
            raise Rejected("it has no signature that can be read") from error
        pairs = [
            (signature.encode(), expected.encode())
            for signature in signatures
            for expected in wanted
        ]
        if not any(compare_digest(signature, expected) for signature, expected in pairs):
            raise Rejected("it is not signed with one of our keys")
        if max_age is not None and wall_clock() - sent_at > max_age:
            raise Rejected(f"it was published more than {max_age} ago")
        return _call(lower, raw)

    def check_size(self, size: int) -> None:
        if size > self.max_body:
            raise Rejected(f"its body is larger than {self.max_body} bytes", TOO_LARGE)

    def _check_signature(self, headers: dict[str, str], body: bytes) -> None:
        why = "it is not signed with one of our keys"
        for webhook in self._webhooks:
            try:
                webhook.verify(body, headers, json_parse=False)
            except WebhookVerificationError as error:
                why = str(error)
            except ValueError:  # no base64, no text, no comma: the library trusts its input
                why = "its signature cannot be read"
            else:
                return
        raise Rejected(why)


def _call(headers: Mapping[str, str], body: bytes) -> Call:
    key = headers["webhook-id"]
    endpoint_id, _, slot = key.partition(":")
    try:
        slot_at = datetime.fromisoformat(slot)
        sent_at = datetime.fromtimestamp(float(headers["webhook-timestamp"]), UTC)
        attempt = int(headers.get("cadenza-attempt", "1"))
    except ValueError as error:
        raise Rejected("it is signed, but it is not a call of Cadenza") from error
    waits = ("cadenza-run-id", "cadenza-result-token", "cadenza-reply-to")
    waiting = [headers.get(name) for name in waits]
    if not all(value is None or value.isprintable() for value in waiting):
        raise Rejected("its run, token or reply queue has control characters")
    return Call(key, endpoint_id, slot_at, attempt, sent_at, body, *waiting)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _webhook(secret: str) -> Webhook:
    try:
        return Webhook(secret)
    except Exception as error:  # whatever base64 raises
        fix = "a signing secret as `cadenza signing-keys create` shows it, like whsec_…"
        raise InvalidInput("secret", "***", fix) from error
