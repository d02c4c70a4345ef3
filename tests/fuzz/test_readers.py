"""The same bytes every time, without atheris: samples, as they are and broken in many ways."""

import pytest

from cadenza.adapters.simulated.chance import SeededChance
from tests.fuzz.readers import READERS

MUTATIONS = 400
BYTES = b"\x00\xff\x80\n\r\t %\"'\\{}[]:,#*/-+.0e9\xc3\xed\xa0\x80"


def mutated(sample: bytes, chance: SeededChance, number: int) -> bytes:
    """Some bytes of it replaced, doubled, left out or put in."""
    raw = bytearray(sample)
    for step in range(1 + number % 4):
        at = int(chance.between(0, len(raw) + 1, "at", number, step))
        byte = BYTES[int(chance.between(0, len(BYTES), "byte", number, step))]
        match int(chance.between(0, 4, "how", number, step)):
            case 0:
                raw[at : at + 1] = bytes([byte])
            case 1:
                raw[at:at] = raw[at : at + 8]
            case 2:
                del raw[at : at + 3]
            case _:
                raw[at:at] = bytes([byte])
    return bytes(raw)


@pytest.mark.parametrize("name", READERS)
def test_hostile_bytes_are_read_or_refused(name: str) -> None:
    reader, chance = READERS[name], SeededChance(17)
    reader.read(b"")
    for number in range(MUTATIONS):
        sample = reader.samples[number % len(reader.samples)]
        reader.read(sample)
        reader.read(mutated(sample, chance, number))
