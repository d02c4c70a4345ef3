"""Control groups, over folders that behave as the kernel's; and over its own where it has them."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from cadenza.adapters.graphs import cgroups
from cadenza.adapters.graphs.cgroups import RunGroups, open_groups, own_group
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import request, run

MB = 2**20
MOUNTS = (
    "24 1 0:22 / / rw - ext4 /dev/sda rw\n30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
)


class Kernel:
    """Folders of control groups: files come with a folder, and no process lives beside groups
    that have a controller."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, controllers: str) -> None:
        self.controllers = controllers
        self.killed: list[str] = []
        self._mkdir, self._rmdir = Path.mkdir, Path.rmdir
        # Plain functions, which a path is bound to.
        monkeypatch.setattr(Path, "mkdir", lambda *path, **more: self.mkdir(*path, **more))  # noqa: PLW0108
        monkeypatch.setattr(Path, "rmdir", lambda folder: self.rmdir(folder))  # noqa: PLW0108
        monkeypatch.setattr(cgroups, "_write", self.write)
        self.root = root / "unit"
        self.root.mkdir()

    def mkdir(self, folder: Path, *args: Any, **options: Any) -> None:
        self._mkdir(folder, *args, **options)
        is_below = "+memory" in self._text(folder.parent / "cgroup.subtree_control")
        names = ["cgroup.procs", "cgroup.kill", "cgroup.subtree_control", "cgroup.controllers"]
        for name in (*names, *(["memory.max", "memory.events"] if is_below else [])):
            (folder / name).touch()
        is_first = not (folder.parent / "cgroup.procs").exists()
        given = self.controllers if is_first or is_below else ""
        (folder / "cgroup.controllers").write_text(given)

    def rmdir(self, folder: Path) -> None:
        if self._text(folder / "cgroup.procs").split():
            raise OSError(errno.EBUSY, "busy")
        for file in list(folder.iterdir()):
            if file.is_file():
                file.unlink()
        self._rmdir(folder)

    def write(self, path: Path, text: str) -> None:
        folder = path.parent
        if path.name == "cgroup.procs":
            for other in self.root.rglob("cgroup.procs"):
                pids = [pid for pid in other.read_text().split() if pid != text]
                other.write_text(" ".join(pids))
            path.write_text(f"{path.read_text()} {text}")
        elif path.name == "cgroup.subtree_control" and self._text(folder / "cgroup.procs").split():
            raise OSError(errno.EBUSY, "processes live here")
        elif path.name == "cgroup.kill":
            self.killed.append(folder.name)
            for procs in folder.rglob("cgroup.procs"):
                procs.write_text("")
        elif not path.exists():
            raise FileNotFoundError(path)
        else:
            path.write_text(text)

    @staticmethod
    def _text(path: Path) -> str:
        return path.read_text() if path.exists() else ""


def _opened(kernel: Kernel, *ours: int, own: Path | None = None, **who: bool) -> RunGroups:
    who = {"is_root": False, "is_namespace": False, **who}
    groups = open_groups(own or kernel.root, ours, **who)
    assert isinstance(groups, RunGroups)
    return groups


def test_our_own_group_is_found_below_its_mount() -> None:
    where = "1:name=systemd:/\n0::/system.slice/cadenza.service\n"
    assert own_group(MOUNTS, where) == Path("/sys/fs/cgroup/system.slice/cadenza.service")
    inside = MOUNTS.replace("0:26 / /sys", "0:26 /box /sys")
    assert own_group(inside, "0::/box/it\n") == Path("/sys/fs/cgroup/it")
    assert own_group(inside, "0::/elsewhere\n") is None
    assert own_group("", where) is None
    assert own_group(MOUNTS, "4:memory:/\n") is None


def test_a_worker_that_is_alone_makes_room_and_has_memory_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path, monkeypatch, "cpu memory pids")
    (kernel.root / "cgroup.procs").write_text("11 12")
    groups = _opened(kernel, 11, 12, 13)
    assert groups.limits_memory
    assert sorted((kernel.root / "cadenza-worker/cgroup.procs").read_text().split()) == ["11", "12"]
    group = groups.new(64 * MB)
    assert group is not None
    assert (group.folder / "memory.max").read_text() == str(64 * MB)
    assert not group.is_out_of_memory()
    (group.folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.is_out_of_memory()


def test_nobody_elses_processes_are_moved_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path, monkeypatch, "memory")
    (kernel.root / "cgroup.procs").write_text("11 99")
    groups = _opened(kernel, 11, 12)
    assert not groups.limits_memory
    assert (kernel.root / "cgroup.procs").read_text() == "11 99"
    group = groups.new(64 * MB)  # it can be killed all the same
    assert group is not None
    groups.leave(group)
    assert kernel.killed == ["run-1"]
    assert not group.folder.exists()


def test_a_group_that_still_ends_is_removed_with_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path, monkeypatch, "")
    groups = _opened(kernel)
    first, second = groups.new(MB), groups.new(MB)
    assert first is not None
    assert second is not None
    monkeypatch.setattr(cgroups.RunGroup, "kill", lambda _: None)  # it takes its time
    (first.folder / "cgroup.procs").write_text("77")
    groups.leave(first)
    assert first.folder.exists()
    (first.folder / "cgroup.procs").write_text("")
    groups.leave(second)
    assert not first.folder.exists()
    assert not second.folder.exists()


def test_what_killed_servers_left_behind_is_ended_and_what_lives_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path, monkeypatch, "")
    living = _opened(kernel)
    group = living.new(MB)
    assert group is not None
    stale = kernel.root / "cadenza-graphs-1"
    (stale / "run-1").mkdir(parents=True)
    (stale / "run-1/cgroup.procs").write_text("4711")
    _opened(kernel)
    assert kernel.killed == ["cadenza-graphs-1"]
    assert not stale.exists()
    assert group.folder.exists()
    os.close(living.lock)


def test_root_keeps_out_of_groups_that_nobody_gave_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path, monkeypatch, "memory")
    refused = open_groups(kernel.root, [], is_root=True, is_namespace=False)
    assert refused == "no writable control group (version 2)"
    marked = {kernel.root: b"1"}
    monkeypatch.setattr(os, "getxattr", lambda path, _: marked.get(path, b""), raising=False)
    assert _opened(kernel, is_root=True).limits_memory


def test_a_group_beside_our_own_is_taken_where_its_parent_was_given_to_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `DelegateSubgroup=` of systemd has it: no process is to be moved."""
    kernel = Kernel(tmp_path, monkeypatch, "memory")
    own = kernel.root / "main"
    own.mkdir()
    (own / "cgroup.procs").write_text("11 99")
    marked = {kernel.root: b"1"}
    monkeypatch.setattr(os, "getxattr", lambda path, _: marked.get(path, b""), raising=False)
    assert _opened(kernel, 11, own=own, is_root=True).limits_memory
    assert (own / "cgroup.procs").read_text() == "11 99"


def test_a_kernel_that_cannot_kill_a_group_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Kernel(tmp_path, monkeypatch, "")
    plain = kernel.mkdir

    def without_kill(folder: Path, *args: Any, **options: Any) -> None:
        plain(folder, *args, **options)
        (folder / "cgroup.kill").unlink()

    monkeypatch.setattr(Path, "mkdir", without_kill)
    refused = open_groups(kernel.root, [], is_root=False, is_namespace=False)
    assert "5.14" in str(refused)


def _mounts() -> str:
    return Path("/proc/self/mountinfo").read_text()


async def test_a_run_is_in_a_group_of_its_own_where_this_machine_has_them() -> None:
    """Elsewhere the worker says why not."""
    graphs = harness.executor(harness.behaviours("own_group"))
    await graphs.start()
    _, result = await run(graphs, request("own_group"))
    if graphs.isolation.startswith("control groups"):
        assert cgroups.PREFIX in result.output
        group = own_group(_mounts(), f"0::{result.output}")
        assert group is not None
        assert not group.exists()
        await graphs.close()
        assert not group.parent.exists()
    else:
        assert "control group" in graphs.isolation
        assert cgroups.PREFIX not in result.output
        await graphs.close()
