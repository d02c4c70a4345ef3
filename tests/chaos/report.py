"""The figures of a run: as one JSON object, or as the table that the documentation shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.chaos.lives import Lived
from tests.chaos.real import Ran
from tests.chaos.stage import BOUND, LEASE

SUMS = (
    *("slots_expected", "matched", "declared", "lost", "doubled_explained", "doubled_unexplained"),
    *("early", "overlaps", "fenced_writes"),
)
OF_PROGRAMS = (*SUMS, "graph_starts", "model_calls", "charges")
RECOVERY = ("recovery_after_kill_s", "recovery_after_database_s")  # from one fault at a time


def programs_figures(ran: Sequence[Ran]) -> dict[str, Any]:
    figures: dict[str, Any] = {
        name: sum(each.figures[name] for each in ran) for name in OF_PROGRAMS
    }
    lateness = sorted(late for each in ran for late in each.figures["lateness"])
    figures |= {f"late_p{share}_s": _share(lateness, share / 100) for share in (50, 99)}
    figures["late_max_s"] = round(lateness[-1], 3) if lateness else 0.0
    calm = [each.figures for each in ran if each.plan.at_once == 1]
    storms = [each.figures for each in ran if each.plan.at_once > 1]
    figures["longest_standstill_s"] = _worst(calm, "longest_standstill_s")
    figures["longest_standstill_in_storms_s"] = _worst(storms, "longest_standstill_s")
    figures["stood_still"] = max(calm, key=_standstill)["stood_still"] if calm else ""
    figures["standstill_limit_s"] = BOUND
    figures["lease_s"] = LEASE
    figures |= {name: _worst(calm, name) for name in RECOVERY}
    figures["stalled_s"] = _worst([*calm, *storms], "stalled_s")
    figures["stopped_in_time"] = all(each.figures["stopped_in_time"] for each in ran)
    figures["tracebacks"] = sum(each.figures["tracebacks"] for each in ran)
    figures["violations"] = sum(len(each.verdict.violations) for each in ran)
    figures["faults"] = dict(sum((each.figures["faults"] for each in ran), Counter[str]()))
    return figures


def _standstill(figures: Mapping[str, Any]) -> float:
    return figures["longest_standstill_s"]


def _worst(figures: Sequence[Mapping[str, Any]], name: str) -> float:
    return round(max((each[name] for each in figures), default=0.0), 3)


def _share(ordered: Sequence[float], share: float) -> float:
    return round(ordered[int(len(ordered) * share)], 4) if ordered else 0.0


def simulation_figures(lived: Lived) -> dict[str, Any]:
    figures: dict[str, Any] = {"lives": lived.lives}
    figures |= {name: lived.figures[name] for name in SUMS}
    figures["violations"] = lived.figures["violations"]
    figures["bad_seeds"] = lived.bad_seeds[:10]
    figures["faults"] = dict(lived.faults)
    return figures


def is_well(figures: Mapping[str, Any]) -> bool:
    """Whether every promise was kept, and the run tried what it is about."""
    programs, simulation = figures.get("programs"), figures.get("simulation")
    mutants = figures.get("mutants")
    verdicts = [
        simulation is None or simulation["violations"] == 0,
        programs is None
        or (
            programs["violations"] == 0
            and programs["tracebacks"] == 0
            and programs["stopped_in_time"]
            and programs["longest_standstill_s"] <= BOUND
        ),
        mutants is None or mutants["killed"] == mutants["of"],
        "fenced_writes" not in figures or figures["fenced_writes"] > 0,
    ]
    return all(verdicts)


def table(figures: Mapping[str, Any]) -> str:
    """In Markdown, as docs/reliability.md shows it."""
    programs, simulation = figures.get("programs") or {}, figures.get("simulation") or {}
    lines = ["| | real programs | simulation |", "|---|---:|---:|"]
    names = [name for name in (*simulation, *programs) if name not in ("faults", "bad_seeds")]
    lines += [
        f"| {name} | {_cell(programs, name)} | {_cell(simulation, name)} |"
        for name in dict.fromkeys(names)
    ]
    real, simulated = programs.get("faults", {}), simulation.get("faults", {})
    lines += [
        f"| fault: {fault} | {_cell(real, fault)} | {_cell(simulated, fault)} |"
        for fault in dict.fromkeys((*real, *simulated))
    ]
    if mutants := figures.get("mutants"):
        lines.append(f"| mutants_killed | {mutants['killed']} of {mutants['of']} | |")
    return "\n".join([f"Seeds: {', '.join(map(str, figures['seeds']))}", "", *lines])


def _cell(figures: Mapping[str, Any], name: str) -> str:
    value = figures.get(name)
    if value is None or isinstance(value, bool):
        return "" if value is None else "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
