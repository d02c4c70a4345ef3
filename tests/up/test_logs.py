"""The log of a program is all of one kind: also what a library says."""

import json
import subprocess
import sys

SCRIPT = """
import logging
from cadenza.roots.program import set_up_logs
set_up_logs(as_json={as_json})
logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
logging.getLogger("asyncio").info("nothing to see")
"""


def _logged(*, as_json: bool) -> list[str]:
    script = SCRIPT.format(as_json=as_json)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()


def test_a_warning_of_a_library_is_a_line_of_json_among_the_others() -> None:
    (line,) = map(json.loads, _logged(as_json=True))
    assert line["event"] == "Invalid HTTP request received."
    assert (line["level"], line["logger"]) == ("warning", "uvicorn.error")


def test_for_people_it_is_a_line_too() -> None:
    (line,) = _logged(as_json=False)
    assert "Invalid HTTP request received." in line
