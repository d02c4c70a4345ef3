"""The statements, each in a file of its own; `{name}` in one stands for the text of another."""

import re
from functools import cache
from importlib import resources

_PART = re.compile(r"\{([a-z_]+)\}")


@cache
def query(name: str) -> str:
    file = resources.files("cadenza.adapters.postgres").joinpath("queries", f"{name}.sql")
    text = file.read_text(encoding="utf-8").strip()
    return _PART.sub(lambda part: query(part.group(1)), text)
