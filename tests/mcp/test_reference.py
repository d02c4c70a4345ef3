"""What the documents say of the tools is what the code says."""

import re
from pathlib import Path

from cadenza.mcp.prompts import PROMPTS
from cadenza.mcp.server import TOOLS
from tests.mcp.describe import REFERENCE, description

HOW_TO = Path(__file__).parents[2] / "docs/how-to/use-with-an-assistant.md"


async def test_the_reference_is_that_of_the_code() -> None:
    assert REFERENCE.read_text() == await description()


def test_the_how_to_names_no_tool_that_is_not_there() -> None:
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", HOW_TO.read_text()))
    arguments = {"dry_run", "read_only", "next_cursor"}
    prompts = {function.__name__ for function in PROMPTS}
    assert named - arguments <= {spec.name for spec in TOOLS} | prompts
    assert prompts <= named
