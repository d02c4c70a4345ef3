"""Names, which are compared in NFC: an accent is the same however a keyboard writes it."""

import unicodedata
from typing import Annotated

from pydantic import BeforeValidator, Field

from cadenza.domain.definition import MAX_NAME

# Of a name that fits when it is composed. Composing takes time by the square of the marks in a row:
# minutes for a megabyte of them.
_LONGEST = 10 * MAX_NAME


def in_nfc(text: object) -> object:
    """A text that is far too long stays as it is, and is refused for its length."""
    if not isinstance(text, str) or text.isascii() or len(text) > _LONGEST:
        return text
    return unicodedata.normalize("NFC", text)


Name = Annotated[
    str,
    Field(min_length=1, max_length=MAX_NAME, description="No / and no control characters; unique."),
    BeforeValidator(in_nfc),
]
AccountName = Annotated[str, Field(min_length=1, max_length=MAX_NAME), BeforeValidator(in_nfc)]
