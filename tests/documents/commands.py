"""The commands of a document: what a reader copies, in its order."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.parent.name != "decisions"  # what was tried once
]
NEEDS = "# needs "  # the first line of a block that cannot be run everywhere, and why
_TYPED = re.compile(r"(\$ )?(cadenza|make|export|pip|pipx) ")


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str

    @property
    def is_typed(self) -> bool:
        return self.language in ("sh", "console")

    @property
    def needs(self) -> str | None:
        first = self.text.split("\n", 1)[0]
        return first.removeprefix(NEEDS) if first.startswith(NEEDS) else None

    @property
    def commands(self) -> str:
        if self.language == "sh":
            return self.text
        lines = self.text.split("\n")
        return "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))


def blocks_of(document: Path) -> list[Block]:
    blocks: list[Block] = []
    language, lines = None, []
    for line in document.read_text().split("\n"):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines = line.removeprefix("```"), []
        else:
            blocks.append(Block(language, "\n".join(lines)))
            language = None
    return blocks


def untold(document: Path) -> list[str]:
    """Commands in a block that does not say that it is one."""
    others = [block for block in blocks_of(document) if not block.is_typed]
    return [line for block in others for line in block.text.split("\n") if _TYPED.match(line)]
