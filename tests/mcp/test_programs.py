"""Real programs: `cadenza api` on PostgreSQL, and `cadenza mcp` as an assistant starts it."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from cadenza.mcp.server import TOOLS
from tests.mcp.support import Assistant, assistant_at
from tests.ports import free_port
from tests.postgres import migrated_database_url
from tests.web.support import ADMIN, Listening

pytestmark = pytest.mark.slow
CADENZA = (sys.executable, "-m", "cadenza.roots.main")
FIRST_KEY = re.compile(r"shown this once: (\S+)")
MANIFEST = """
jobs:
  - name: shop
    description: Watch the checkout.
    endpoints:
      - {name: queue, every: 5m, min_interval: 30s, url: "https://shop.example/queue"}
    rules:
      - {name: rush, endpoint: queue, when: response.depth > 100, then: {interval: 30s}, ttl: 30m}
"""


def _environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CADENZA_")}  # noqa: TID251
    return {**kept, **more}


@asynccontextmanager
async def started(*words: str, cwd: Path | None = None, **more: str) -> AsyncIterator[Assistant]:
    """The program, and an assistant at its other end; it ends with the block."""
    command, *arguments = (*CADENZA, "mcp", *words)
    environment = _environment(**more)
    program = StdioServerParameters(command=command, args=arguments, env=environment, cwd=cwd)
    async with Client(program) as client:
        yield Assistant(client)


@dataclass(frozen=True, slots=True)
class Api:
    url: str
    key: str


@contextmanager
def api_program(database_url: str, folder: Path) -> Iterator[Api]:
    port = free_port()
    settings = {
        "CADENZA_DATABASE_URL": database_url,
        "CADENZA_DATA_FOLDER": str(folder / ".cadenza"),
    }
    with (folder / "log").open("w") as log:
        program = subprocess.Popen(
            [*CADENZA, "api", "--port", str(port)],
            cwd=folder, env=_environment(**settings), stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        try:
            assert program.stdout is not None
            shown = FIRST_KEY.search(program.stdout.readline())
            assert shown is not None, (folder / "log").read_text()
            _wait_for(folder / "log", "api started", program)
            yield Api(f"http://127.0.0.1:{port}", shown[1])
        finally:
            program.terminate()
            program.communicate(timeout=60)


def _wait_for(log: Path, text: str, program: "subprocess.Popen[str]") -> None:
    while text not in log.read_text():
        try:
            program.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(log.read_text())


async def test_an_assistant_sets_a_job_up_asks_why_pauses_and_undoes(tmp_path: Path) -> None:
    async with migrated_database_url() as url:
        with api_program(url, tmp_path) as api:
            where = {"CADENZA_API_URL": api.url, "CADENZA_API_KEY": api.key}
            async with started(**where) as ada, assistant_at(api.url, api.key) as eve:
                await _tells_a_story(ada)
                # The same tools over the other transport see what was done.
                seen = await eve.does("get_job", job="shop")
                assert seen["job"]["description"] == "Watch the checkout."
                actions = {entry["action"] for entry in (await eve.does("list_audit"))["items"]}
                assert {"endpoint.pause", "endpoint.resume"} <= actions


async def _tells_a_story(ada: Assistant) -> None:
    assert (await ada.does("get_overview"))["ready"]
    planned = await ada.does("apply_manifest", manifest=MANIFEST)
    assert (await ada.does("list_jobs"))["items"] == []
    assert not planned["done"]
    assert (await ada.does("apply_manifest", manifest=MANIFEST, dry_run=False))["done"]
    record = await ada.does("get_endpoint", endpoint="shop/queue", include=["explanation"])
    why = record["data"]["explanation"]
    assert why["next_run_at"]
    hinted = await ada.does("hint", endpoint="shop/queue", interval="1m", ttl="1h", reason="sale")
    assert hinted["data"]["hints"][0]["reason"] == "sale"
    paused = await ada.does("steer", action="pause", endpoint="shop/queue", reason="deploy")
    assert paused["undo"] == "steer with action resume"
    assert (await ada.does("list_endpoints", state="paused"))["items"]
    await ada.does("steer", action="resume", endpoint="shop/queue")
    await ada.does("steer", action="clear_hints", endpoint="shop/queue")
    back = await ada.does("get_endpoint", endpoint="shop/queue", include=["steering", "rules"])
    assert back["data"]["hints"] == back["data"]["pauses"] == []
    assert {entry["kind"] for entry in back["data"]["steering"]["items"]} == {"interval", "pause"}
    assert "rush" in await ada.reads("cadenza://jobs/shop/manifest")


async def test_two_programs_at_once_each_with_its_own_key_one_of_them_only_reading(
    server: Listening,
) -> None:
    ours, theirs = server.site.ours.keys[ADMIN], server.site.theirs.keys[ADMIN]
    async with (
        started("--server", server.url, "--key", ours) as ada,
        started("--read-only", "--server", server.url, "--key", theirs) as eve,
    ):
        for one, tenant in ((ada, "ours"), (eve, "theirs")):
            assert (await one.does("get_overview"))["you"]["tenant_name"] == tenant
        assert await _tools(ada) == {spec.name for spec in TOOLS}
        assert await _tools(eve) == {spec.name for spec in TOOLS if spec.is_read}
        await ada.does("create", kind="job", fields={"name": "shop"})
        assert "Unknown tool" in await eve.is_told("create", kind="job", fields={"name": "shop"})
        assert "jobs:" in await ada.reads("cadenza://docs/how-to/write-rules")


async def _tools(one: Assistant) -> set[str]:
    return {tool.name for tool in (await one.client.list_tools()).tools}


async def test_a_server_that_is_away_or_refuses_is_told_in_words(server: Listening) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    async with (
        started("--server", nowhere, "--key", "cdz_x") as ada,
        started("--server", server.url, "--key", "cdz_x") as eve,
    ):
        said = await ada.is_told("list_jobs")
        assert "cannot be reached" in said
        assert "cadenza up" in said
        with pytest.raises(MCPError, match="cannot be reached"):
            await ada.client.read_resource("cadenza://jobs/shop/manifest")
        said = await eve.is_told("list_jobs")
        assert "unknown, revoked or expired" in said
        assert "cdz_x" not in said


def test_without_a_key_the_command_says_where_one_comes_from(tmp_path: Path) -> None:
    done = subprocess.run(
        [*CADENZA, "mcp"], cwd=tmp_path, env=_environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 4
    assert "CADENZA_API_KEY" in done.stderr
    assert done.stdout == ""
