"""Control groups (version 2), where a subtree of them is ours to write: each run has one.

To kill a group ends all that is in it at once, whatever session it moved to, and the kernel keeps
its memory within the limit. The memory controller can be had only where no process lives beside
the groups, so a worker that is alone in its own group moves into one below it.
"""

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

PREFIX = "cadenza-graphs-"
WORKER = "cadenza-worker"
DELEGATED = ("trusted.delegate", "user.delegate")  # systemd's mark


@dataclass(frozen=True, slots=True)
class RunGroup:
    folder: Path

    def join(self) -> None:
        """This process, and all that it will start."""
        _write(self.folder / "cgroup.procs", "0")

    def kill(self) -> None:
        with suppress(OSError):
            _write(self.folder / "cgroup.kill", "1")

    def is_out_of_memory(self) -> bool:
        """The kernel has ended something in it for that."""
        with suppress(OSError):
            events = dict(map(str.split, _read(self.folder / "memory.events").splitlines()))
            return events.get("oom_kill", "0") != "0"
        return False

    def remove(self) -> bool:
        """False while something in it still ends."""
        try:
            self.folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True


class RunGroups:
    """The groups of one fork server, in a folder that is locked while it lives."""

    def __init__(self, folder: Path, lock: int, *, limits_memory: bool) -> None:
        self.lock = lock
        self.limits_memory = limits_memory
        self._folder = folder
        self._leaving: list[RunGroup] = []
        self._count = 0

    def new(self, memory: int) -> RunGroup | None:
        """None where the kernel gives no more of them: the run goes on without."""
        self._count += 1
        group = RunGroup(self._folder / f"run-{self._count}")
        try:
            group.folder.mkdir()
            if self.limits_memory:
                _write(group.folder / "memory.max", str(memory))
                for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                    with suppress(OSError):  # not with every kernel
                        _write(group.folder / name, value)
        except OSError:
            group.remove()
            return None
        return group

    def leave(self, group: RunGroup) -> None:
        """Its run has ended; what is left in it ends now."""
        group.kill()
        self._leaving = [left for left in (*self._leaving, group) if not left.remove()]

    def close(self) -> None:
        _end(self._folder)


def open_groups(
    own: Path, ours: Iterable[int], *, is_root: bool, is_namespace: bool
) -> RunGroups | str:
    """Below our own group, or beside it where its parent was given to us; or why there are none."""
    for base in (own, own.parent):
        if _is_delegated(base, is_root=is_root, is_namespace=is_namespace and base == own):
            return _opened(base, ours)
    return "no writable control group (version 2)"


def own_group(mounts: str, groups: str) -> Path | None:
    """From /proc/self/mountinfo and /proc/self/cgroup; None without version 2."""
    path = next((line[3:] for line in groups.splitlines() if line.startswith("0::/")), None)
    for line in mounts.splitlines():
        fields, _, kind = line.partition(" - ")
        if path is not None and kind.startswith("cgroup2 "):
            root, mount = fields.split()[3:5]
            inside = os.path.relpath(path, root)
            return None if inside.startswith("..") else Path(mount, inside)
    return None


def of_this_process(ours: Iterable[int]) -> RunGroups | str:
    try:
        mounts, groups = _read(Path("/proc/self/mountinfo")), _read(Path("/proc/self/cgroup"))
        own = own_group(mounts, groups)
        if own is None:
            return "no control groups of version 2"
        is_namespace = groups.rstrip().endswith("0::/")
        return open_groups(own, ours, is_root=os.geteuid() == 0, is_namespace=is_namespace)
    except OSError as error:
        return f"control groups cannot be used: {error}"


def _is_delegated(base: Path, *, is_root: bool, is_namespace: bool) -> bool:
    """Root may write everywhere, and must not where somebody else rules."""
    if not all(os.access(path, os.W_OK) for path in (base, base / "cgroup.procs")):
        return False
    return not is_root or is_namespace or any(_attribute(base, name) for name in DELEGATED)


def _attribute(base: Path, name: str) -> bool:
    try:
        return os.getxattr(base, name) == b"1"
    except OSError:
        return False


def _opened(base: Path, ours: Iterable[int]) -> RunGroups | str:
    _end_stale(base)
    folder = _new_folder(base)
    if not (folder / "cgroup.kill").exists():
        folder.rmdir()
        return "this kernel cannot kill a control group (it came with Linux 5.14)"
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return RunGroups(folder, lock, limits_memory=_has_memory(base, folder, set(ours)))


def _new_folder(base: Path) -> Path:
    """A process of another namespace may have our number."""
    for number in count():
        folder = base / f"{PREFIX}{os.getpid()}-{number}"
        with suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise AssertionError("numbers do not end")


def _has_memory(base: Path, folder: Path, ours: set[int]) -> bool:
    if "memory" not in _read(base / "cgroup.controllers").split():
        return False
    if not _enable_memory(base) and not (_make_room(base, ours) and _enable_memory(base)):
        return False
    return _enable_memory(folder)


def _enable_memory(folder: Path) -> bool:
    try:
        _write(folder / "cgroup.subtree_control", "+memory")
    except OSError:
        return False
    return True


def _make_room(base: Path, ours: set[int]) -> bool:
    """Only of a group that is ours alone: others are not moved about."""
    living = {int(pid) for pid in _read(base / "cgroup.procs").split()}
    if not living <= ours:
        return False
    with suppress(OSError):
        (base / WORKER).mkdir(exist_ok=True)
        for pid in living:
            _write(base / WORKER / "cgroup.procs", str(pid))
        return True
    return False


def _end_stale(base: Path) -> None:
    """What servers left behind that were killed together with their guardians."""
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # else somebody lives
                _end(folder)
            finally:
                os.close(lock)


def _end(folder: Path) -> None:
    """What still ends there is removed by the next one that starts."""
    with suppress(OSError):
        _write(folder / "cgroup.kill", "1")
    with suppress(OSError):
        for group in folder.glob("run-*"):
            RunGroup(group).remove()
        folder.rmdir()


def _read(path: Path) -> str:
    return path.read_text()


def _write(path: Path, text: str) -> None:
    """Unbuffered: the kernel's answer is the answer to this write."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
