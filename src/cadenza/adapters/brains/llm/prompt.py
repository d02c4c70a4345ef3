"""The prompt: a file with a version, known to each session by its hash."""

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources

_VERSION = re.compile(r"<!-- version (\d+) -->\n")


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    version: str  # the number in the file, and the hash of all of it

    def with_marker(self, marker: str) -> str:
        return self.text.replace("$marker", marker)


@cache
def load_prompt() -> Prompt:
    file = resources.files("cadenza.adapters.brains.llm").joinpath("prompt.md")
    return prompt_of(file.read_text(encoding="utf-8"))


def prompt_of(text: str) -> Prompt:
    first = _VERSION.match(text)
    assert first is not None, "the prompt begins with its version"
    digest = sha256(text.encode()).hexdigest()
    return Prompt(text[first.end() :], f"{first.group(1)}-{digest[:16]}")
