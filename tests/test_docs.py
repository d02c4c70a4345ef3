"""What the documents say is what the code does."""

import re
import subprocess
from pathlib import Path

import pytest

from cadenza.manifest.files import read_manifest
from cadenza.roots.settings import PREFIX, Settings
from cadenza.roots.validation_policy import checks
from cadenza.sim.scenarios import SCENARIOS
from cadenza.web.docs.generated import FILE_FORMAT, ROUTES, SCHEMAS

ROOT = Path(__file__).parent.parent
WRITTEN_BY_CODE = [ROOT / "docs" / path for path in (ROUTES, SCHEMAS, FILE_FORMAT)]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_table_of_settings_is_that_of_the_code() -> None:
    shown = (ROOT / "docs/reference/settings.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (?:`(.*)`)? ?\| (.*) \|$", shown, re.MULTILINE)
    expected = [
        (
            f"{PREFIX}{name.upper()}",
            "" if field.default is None else str(field.default),
            field.description,
        )
        for name, field in Settings.model_fields.items()
    ]
    assert rows == expected


def test_every_scenario_is_described() -> None:
    shown = (ROOT / "docs/reference/simulation.md").read_text()
    assert re.findall(r"^\| `([a-z-]+)`", shown, re.MULTILINE) == list(SCENARIOS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text())
    targets = [(document.parent / link).resolve() for link in links]
    missing = [path for path in targets if not path.exists() and path not in WRITTEN_BY_CODE]
    assert missing == []


def test_make_help_names_every_target_that_the_readme_uses() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    used = set(re.findall(r"^make (\w[\w-]*)", (ROOT / "README.md").read_text(), re.MULTILINE))
    offered = set(re.findall(r"^  make (\S+)", shown.stdout, re.MULTILINE))
    assert used
    assert used <= offered


def test_the_file_in_the_readme_is_valid(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    (written,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "cadenza.yaml"
    file.write_text(written)
    manifest = read_manifest(file, checks(), {})
    assert manifest.problems == []
    assert [len(job.endpoints) for job in manifest.jobs] == [2]
