"""The result as a table for people."""

from dataclasses import dataclass
from typing import Any

from benchmarks.adaptation.race import Row


@dataclass(frozen=True, slots=True)
class Track:
    name: str
    half: str  # "held out", "tuned on", or "all" where nothing was tuned
    kind: str  # "states" or "windows"
    baseline_min: int
    endpoints: int
    rows: list[Row]

    def record(self) -> dict[str, Any]:
        rows = [row.record() for row in self.rows]
        return {
            "track": self.name,
            "half": self.half,
            "kind": self.kind,
            "baseline_min": self.baseline_min,
            "endpoints": self.endpoints,
            "rows": rows,
        }


HEAD = (
    "| policy | probes | per endpoint | wrong state | skill | noticed after, min | skill"
    " | recovery after, min | missed | false alarms a day | worst tenth |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)

OF_WINDOWS = (
    "Every policy has the brain's detectors over its own probes. Noticed: a look inside a labelled"
    " window names a change. Down: the latest look names one. Wrong state: inside a window, not yet"
    " named. The oracle knows when windows begin, and has no better detectors."
)


def table(track: Track) -> str:
    title = f"{track.name}, {track.half}, baseline {track.baseline_min} min"
    lines = [f"### {title} ({track.endpoints} endpoints)", ""]
    lines += [OF_WINDOWS, "", HEAD] if track.kind == "windows" else [HEAD]
    return "\n".join([*lines, *(_line(row) for row in track.rows), ""])


def _line(row: Row) -> str:
    wrong, delay = row.figures["wrong_share"], row.figures["delay_min"]
    cells = (
        row.policy,
        f"{row.ratio:.3f}",
        f"{row.spread[0]:.2f}–{row.spread[1]:.2f}",
        f"{wrong.value:.3%}",
        f"{wrong.skill:+.2f} ({wrong.skill_low:+.2f}…{wrong.skill_high:+.2f})",
        f"{delay.value:.1f}",
        f"{delay.skill:+.2f} ({delay.skill_low:+.2f}…{delay.skill_high:+.2f})",
        f"{row.figures['recovery_min'].value:.1f}",
        f"{row.figures['miss_share'].value:.1%}",
        f"{row.figures['false_alarms_a_day'].value:.3f}",
        f"{row.figures['worst_tenth'].value:.2%}",
    )
    return f"| {' | '.join(cells)} |"
