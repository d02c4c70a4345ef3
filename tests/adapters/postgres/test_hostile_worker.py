"""A real worker among hostile targets: every run ends in time and is stored; others go on."""

from datetime import timedelta
from pathlib import Path

from cadenza.domain.endpoint import Every
from cadenza.domain.target import HttpTarget
from tests.adapters.http.support import Behaviour, answering, saying, serving
from tests.adapters.http.test_hostile_targets import HEAD, SLOW, gzip_bomb, streaming
from tests.adapters.postgres.support import World, program, until
from tests.factories import make_endpoint, seconds

HOSTILE: dict[str, Behaviour] = {
    **SLOW,
    "a bomb": streaming(HEAD, "Content-Encoding: gzip\r\n\r\n", chunk=gzip_bomb()),
    "fifty layers": answering(b"x", Content_Encoding=", ".join(["gzip"] * 50)),
    "status 999": answering(b"{}", "999 Whatever"),
    "bottomless": answering("[" * 30_000 + "]" * 30_000),
    "a NUL and half a pair": answering('{"a": "\\u0000", "b": "\\ud800", "c": 1e999}'),
    "not UTF-8": answering(b'{"a": "\xff\xfe"}'),
    "closes in the middle": saying(HEAD, "Content-Length: 100\r\n\r\nhalf"),
    "answers twice": saying(f"{HEAD}Content-Length: 2\r\n\r\n{{}}" * 2),
    "into the private network": answering(b"", "302 Found", Location="http://10.0.0.1/"),
}
TIMEOUT = seconds(2)


def peak_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


async def test_a_worker_lives_through_hostile_targets(world: World, tmp_path: Path) -> None:
    async with serving() as target:
        first = await world.add("honest", baseline=Every(seconds(1)))
        for number, (name, behaviour) in enumerate(HOSTILE.items()):
            url = target.on(f"/{number}", behaviour)
            endpoint = make_endpoint(
                name,
                baseline=Every(timedelta(hours=1)),
                created_at=await world.now(),
                tenant_id=first.tenant_id,
                job_id=first.job_id,
            )
            hop = HttpTarget(url, timeout=TIMEOUT, max_redirects=3)
            await world.endpoints.add_endpoint(endpoint, hop)
        with program(tmp_path / "worker.log", world.url, in_flight_per_host=100) as worker:
            await worker.until_started()

            async def all_ended() -> bool:
                ended = {run["name"] for run in await world.runs() if run["finished_at"]}
                return ended >= set(HOSTILE)

            await until(all_ended, within=30)
            peak = peak_mb(worker.process.pid)
        # The program was killed: what was in its hands has not ended.
        runs = [run for run in await world.runs() if run["finished_at"]]
    assert peak < 300
    for run in runs:
        if run["name"] != "honest":
            assert run["finished_at"] - run["started_at"] < TIMEOUT + seconds(2), run["name"]
    honest = [run["started_at"] - run["slot_at"] for run in runs if run["name"] == "honest"]
    assert len(honest) >= 2
    assert max(honest[1:]) < seconds(1)
    hop = next(run for run in runs if run["name"] == "into the private network")
    assert hop["error_kind"] == "blocked_address"
    assert "10.0.0.1" not in hop["error_message"]
