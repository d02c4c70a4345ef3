"""Every example is valid, and the README of the examples speaks of each."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cadenza.domain.errors import InstallationError
from cadenza.roots.examples import example_job
from cadenza.roots.main import app

FOLDER = Path(__file__).parents[1] / "examples"
FILES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_example_is_valid_and_without_warnings(file: Path) -> None:
    done = CliRunner().invoke(app, ["validate", "-f", str(file)])
    assert done.exit_code == 0, done.output
    assert "warning" not in done.stderr
    assert file.name in (FOLDER / "README.md").read_text()


def test_an_example_that_is_not_there_is_told_as_such() -> None:
    assert len(FILES) >= 2
    with pytest.raises(InstallationError, match=r"nowhere\.yaml is not among the examples"):
        example_job("nowhere.yaml")
