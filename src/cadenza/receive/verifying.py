"""Whether a call is genuine: signature, timestamp, and what it says of itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

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
        key = lower["webhook-id"]
        endpoint_id, _, slot = key.partition(":")
        try:
            slot_at = datetime.fromisoformat(slot)
            sent_at = datetime.fromtimestamp(float(lower["webhook-timestamp"]), UTC)
            attempt = int(lower.get("cadenza-attempt", "1"))
        except ValueError as error:
            raise Rejected("it is signed, but not a call of Cadenza") from error
        return Call(key, endpoint_id, slot_at, attempt, sent_at, body)

    def check_size(self, size: int) -> None:
        if size > self.max_body:
            raise Rejected(f"its body is larger than {self.max_body} bytes", TOO_LARGE)

    def _check_signature(self, headers: dict[str, str], body: bytes) -> None:
        why = "no key of ours has signed it"
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


def _webhook(secret: str) -> Webhook:
    try:
        return Webhook(secret)
    except Exception as error:  # whatever base64 raises
        fix = "a signing secret as `cadenza signing-keys create` shows it, like whsec_…"
        raise InvalidInput("secret", "***", fix) from error
