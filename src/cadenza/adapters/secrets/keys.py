"""Master keys: 256 bits each, known by an id that says nothing about the key itself."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cadenza.domain.errors import InstallationError

KEY_BYTES = 32
FEWEST_DISTINCT = 8  # 32 random bytes have more; a key that somebody typed may not
WANTED = "32 random bytes as base64 or hex (`openssl rand -base64 32` makes one)"


@dataclass(frozen=True, slots=True)
class MasterKey:
    id: str
    cipher: AESGCM = field(repr=False)

    @classmethod
    def of(cls, raw: bytes) -> "MasterKey":
        return cls(blake2b(raw, digest_size=8, person=b"cadenza key id").hexdigest(), AESGCM(raw))


class MasterKeys:
    """Several keys: the first one seals, all of them open."""

    def __init__(self, keys: dict[str, MasterKey], where: str) -> None:
        self.where = where  # they come from, for messages to the admin
        self._keys = keys

    @property
    def ids(self) -> Sequence[str]:
        return list(self._keys)

    def writing(self) -> MasterKey:
        return next(iter(self._keys.values()))

    def find(self, key_id: str) -> MasterKey | None:
        return self._keys.get(key_id)


class ConfiguredKeys(MasterKeys):
    """Keys as a setting has them: one or more, with commas between them."""

    def __init__(self, text: str, where: str = "CADENZA_MASTER_KEY") -> None:
        super().__init__(read_keys(text, where), where)


def read_keys(text: str, where: str) -> dict[str, MasterKey]:
    """By id and in their order. No message quotes a key, also not one that is misspelt."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    words = [word for line in lines for word in re.split(r"[,\s]+", line) if word]
    if not words:
        raise InstallationError(
            f"{where} holds no key. It takes {WANTED}. Put the key back into {where}; without it "
            "no secret that it encrypted can be read."
        )
    numbered = enumerate(words, 1)
    keys = [MasterKey.of(_key_bytes(word, f"Key {n} in {where}")) for n, word in numbered]
    return {key.id: key for key in keys}


def _key_bytes(word: str, which: str) -> bytes:
    raw = _decoded(word)
    if raw is None or len(raw) != KEY_BYTES:
        raise InstallationError(
            f"{which} cannot be used: expected {WANTED}, got {len(word)} characters that are not."
        )
    if len(set(raw)) < FEWEST_DISTINCT:
        raise InstallationError(f"{which} cannot be used: it is not random. Expected {WANTED}.")
    return raw


def _decoded(word: str) -> bytes | None:
    if re.fullmatch(r"[0-9a-fA-F]{64}", word):
        return bytes.fromhex(word)
    ordinary = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(ordinary + "=" * (-len(ordinary) % 4), validate=True)
    except ValueError:
        return None
