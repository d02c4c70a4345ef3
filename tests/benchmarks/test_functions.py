"""The benchmark of functions works: everything is run, once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.chaos
def test_a_small_run_loses_and_doubles_nothing() -> None:
    command = [sys.executable, "-m", "benchmarks.functions", "--json", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert (result["lost"], result["doubled"], result["repeated"]) == (0, 0, 0)
    assert result["runs_per_s"] > 0
