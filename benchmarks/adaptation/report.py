"""The result as tables for people."""

from dataclasses import dataclass
from typing import Any

from benchmarks.adaptation.race import FIXED, Row
from benchmarks.adaptation.summary import Skill

HEAD = (
    "| policy | probes | most of one job | wrong state | skill | at equal probes"
    " | noticed after, min | skill | at equal probes | recovery after, min | missed"
    " | gain of one endpoint, of five |\n|" + "---|" * 12
)


@dataclass(frozen=True, slots=True)
class Track:
    name: str
    baseline_min: float
    phases: int
    jobs: int
    endpoints: int
    outages: int
    rows: list[Row]

    def record(self) -> dict[str, Any]:
        return {
            "track": self.name,
            "baseline_min": self.baseline_min,
            "phases": self.phases,
            "jobs": self.jobs,
            "endpoints": self.endpoints,
            "outages": self.outages,
            "rows": [row.record() for row in self.rows],
        }


def table(track: Track) -> str:
    size = f"{track.jobs} jobs, {track.endpoints} endpoints, {track.outages} outages"
    size = f"{size}, {track.phases} phases"
    title = f"### {track.name}, baseline {track.baseline_min:g} min ({size})"
    return "\n".join([title, "", HEAD, *(_line(row) for row in track.rows), ""])


def _line(row: Row) -> str:
    shares = [share for _, share in row.most_gain]
    gain = "" if row.policy == FIXED else f"{max(shares):.0%}, {sum(shares[:5]):.0%}"
    cells = (
        row.policy,
        f"{row.probes:.3f}",
        f"{row.most:.2f}",
        f"{row.wrong_share:.3%}",
        _skill(row.wrong_skill),
        f"{row.wrong_skill_equal.value:+.2f}",
        f"{row.delay_min:.1f}",
        _skill(row.delay_skill),
        f"{row.delay_skill_equal.value:+.2f}",
        f"{row.recovery_min:.1f}",
        f"{row.miss_share:.1%}",
        gain,
    )
    return f"| {' | '.join(cells)} |"


def _skill(skill: Skill) -> str:
    return f"{skill.value:+.2f} ({skill.low:+.2f}…{skill.high:+.2f})"
