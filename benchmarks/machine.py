"""Whether the machine was ours during a measurement: numbers on a shared machine are noisy."""

import os
from dataclasses import dataclass
from pathlib import Path

NOISY_ABOVE = 0.10


@dataclass(frozen=True, slots=True)
class Load:
    """Ticks of the processor since boot: all that were used, those of our tree, those stolen."""

    busy: int
    ours: int
    stolen: int
    total: int


def load_now() -> Load:
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    user, nice, system, idle, iowait, irq, softirq, steal = fields
    busy = user + nice + system + irq + softirq
    return Load(busy, _ours(), steal, busy + idle + iowait + steal)


def foreign_share(before: Load, after: Load) -> float:
    """The part of the machine that went to somebody else."""
    total = max(1, after.total - before.total)
    foreign = (after.busy - before.busy) - (after.ours - before.ours)
    return max(0.0, (foreign + after.stolen - before.stolen) / total)


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processor; on a busy machine it says more than the clock."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ours() -> int:
    return _tree_ticks(os.getpid())


def tree_cpu_seconds(pid: int) -> float:
    """The same of a process and everything that descends from it, the ended ones included."""
    return _tree_ticks(pid) / os.sysconf("SC_CLK_TCK")


def _tree_ticks(root: int) -> int:
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry.name)
        children.setdefault(int(fields[1]), []).append(pid)
        ticks[pid] = sum(int(field) for field in fields[11:15])
    total, todo = 0, [root]
    while todo:
        pid = todo.pop()
        total += ticks.get(pid, 0)
        todo.extend(children.get(pid, []))
    return total
