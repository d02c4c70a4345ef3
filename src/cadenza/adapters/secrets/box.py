"""Sealed values: `v1:<key id>:<base64 of nonce and ciphertext>`, each bound to its column and row.

Tenant, row, column and key id are authenticated with the ciphertext, so that one which was moved
to another row, tenant or column, or had its key id changed, does not open there.
"""

import os
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from cryptography.exceptions import InvalidTag

from cadenza.adapters.secrets.keys import MasterKeys
from cadenza.domain.errors import SecretUnreadable

VERSION = "v1"
NONCE_BYTES, TAG_BYTES = 12, 16
_FORM = re.compile(rf"{VERSION}:([0-9a-f]{{16}}):([A-Za-z0-9+/=]+)")


class AesGcmBox:
    def __init__(self, keys: MasterKeys) -> None:
        self._keys = keys

    @property
    def key_ids(self) -> Sequence[str]:
        return self._keys.ids

    def seal(self, plain: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str:
        key = self._keys.writing()
        nonce = os.urandom(NONCE_BYTES)
        raw = plain.encode("utf-8", "surrogatepass")
        context = _context(key.id, tenant_id, row_id, column)
        data = nonce + key.cipher.encrypt(nonce, raw, context)
        return f"{VERSION}:{key.id}:{_encoded(data)}"

    def open(self, sealed: str, *, tenant_id: UUID, row_id: UUID, column: str) -> str:
        key_id, data = _parts(sealed, column)
        key = self._keys.find(key_id)
        if key is None:
            # Tenants read this with their failed runs: it does not say where the admin's keys are.
            raise SecretUnreadable(
                f"The secret in {column} was encrypted with the master key {key_id}, which this "
                "program does not have. Put that key back (`cadenza secrets status` lists what is "
                "missing), or enter the secret again.",
                key_id,
            )
        try:
            context = _context(key_id, tenant_id, row_id, column)
            raw = key.cipher.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], context)
        except InvalidTag:
            raise SecretUnreadable(
                f"The secret in {column} does not open: it was changed, or it was sealed for "
                "another place. Enter it again."
            ) from None
        return raw.decode("utf-8", "surrogatepass")


def _context(key_id: str, tenant_id: UUID, row_id: UUID, column: str) -> bytes:
    # All but the last part have a fixed length, so that no two contexts are the same bytes.
    ids = tenant_id.bytes + row_id.bytes
    return f"cadenza:{VERSION}:{key_id}:".encode() + ids + column.encode("utf-8", "surrogatepass")


def _parts(sealed: str, column: str) -> tuple[str, bytes]:
    if form := _FORM.fullmatch(sealed):
        with suppress(ValueError):
            data = a2b_base64(form[2])
            # Base64 can write the same bytes in several ways; only ours is accepted.
            if len(data) >= NONCE_BYTES + TAG_BYTES and _encoded(data) == form[2]:
                return form[1], data
    raise SecretUnreadable(
        f"What is stored in {column} is not a sealed secret, or one that a newer version of "
        "Cadenza wrote. Enter the secret again, or run that version."
    )


def _encoded(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()
