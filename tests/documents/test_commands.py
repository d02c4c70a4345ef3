"""Every command in README and docs/how-to works, in its order, in a fresh folder, as installed."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents.commands import DOCUMENTS, ROOT, blocks_of, untold
from tests.documents.installation import SECONDS, Up, installed_wheel, up

CRONTAB = "# Save the shop.\n0 3 * * * /srv/backup.sh --all\n@hourly certbot renew -q\n"
SAMPLE = "127.0.0.1:8081"  # where the sample service is, unless that port is taken


def names(path: Path) -> str:
    return path.stem


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    programs = installed_wheel(tmp_path_factory.mktemp("wheel"))
    with up(tmp_path_factory.mktemp("up"), programs) as living:
        yield living


@pytest.mark.parametrize("document", DOCUMENTS, ids=names)
def test_every_command_is_marked_as_one(document: Path) -> None:
    assert untold(document) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=names)
def test_what_is_not_run_says_what_it_needs(document: Path) -> None:
    for block in blocks_of(document):
        if block.is_typed:
            assert block.needs != ""
            assert block.needs is not None or block.commands.strip()


@pytest.mark.parametrize(
    "document",
    [path for path in DOCUMENTS if any(b.is_typed and not b.needs for b in blocks_of(path))],
    ids=names,
)
def test_its_commands_work_in_their_order(running: Up, document: Path, tmp_path: Path) -> None:
    """In a tenant of its own, with the files that a reader would have."""
    _bring_files(tmp_path)
    blocks = [block for block in blocks_of(document) if block.is_typed and not block.needs]
    script = "\n".join(block.commands for block in blocks)
    script = script.replace(SAMPLE, f"127.0.0.1:{running.sample_port}")
    tell = "trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR"
    done = subprocess.run(
        ["bash", "-c", f"set -e -o pipefail\n{tell}\n{script}"],
        cwd=tmp_path,
        env=running.environment(**_key(running, document.stem)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def _key(running: Up, name: str) -> dict[str, str]:
    """Of a new tenant; and a provider's key, which is only stored."""
    running.output_of("tenants", "create", name)
    running.output_of("tenants", "create-user", name, "ada")
    made = json.loads(running.output_of("tenants", "create-key", name, "ada", "--json"))
    return {
        "CADENZA_API_URL": running.url,
        "CADENZA_API_KEY": made["key"],
        "OPENAI_API_KEY": "sk-of-nobody-at-all-0000",
    }


def _bring_files(folder: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    (folder / "schedules").mkdir()
    for name in ("cadenza.yaml", "some.yaml", "schedules/shop.yaml"):
        (folder / name).write_text(example)
    (folder / "my.crontab").write_text(CRONTAB)
    (folder / "answers.jsonl").write_text("".join(map(_answer, range(10))))
    (folder / "examples").symlink_to(ROOT / "examples")


def _answer(number: int) -> str:
    at, body = f"2026-01-31T12:0{number}:00Z", {"queue_depth": 100 * number}
    return json.dumps({"endpoint": "queue", "at": at, "body": body}) + "\n"
