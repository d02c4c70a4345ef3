"""Draws the picture of the loops, light and dark: `python -m tests.documents.loops`."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.documents.commands import ROOT

IMAGES = ROOT / "docs/images"
WIDTH, HEIGHT = 960, 640
ALT = "The loops around one database"


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours of the dashboard, in one of its themes."""

    paper: str
    sunk: str
    ink: str
    quiet: str
    rule: str
    scheduler: str
    planner: str
    graphs: str
    people: str


LIGHT = Ink(
    "#ffffff", "#f4f2ec", "#1b1d22", "#646974", "#c9c4b8",
    "#1f5fae", "#741a82", "#1d6b5e", "#8a5708",
)  # fmt: skip
DARK = Ink(
    "#1b1e25", "#0f1115", "#eceef2", "#949ba8", "#3b404c",
    "#86b8f5", "#f7a8fa", "#83caad", "#fbb26b",
)  # fmt: skip


def picture(ink: Ink) -> str:
    parts = [
        *_database(ink),
        *_scheduler(ink),
        *_planner(ink),
        *_graphs(ink),
        *_people(ink),
    ]
    colours = (ink.scheduler, ink.planner, ink.graphs, ink.people, ink.quiet)
    marks = "".join(map(_mark, colours))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="ui-sans-serif, system-ui, sans-serif" font-size="13" role="img">\n'
        f"<title>{ALT}</title>\n<defs>{marks}</defs>\n" + "\n".join(parts) + "\n</svg>\n"
    )


# --- The five parts -------------------------------------------------------------------------


def _database(ink: Ink) -> list[str]:
    lines = (
        "endpoints: baseline, guardrails, hints, plan",
        "runs: slot, why, answer",
        "sessions: what planners did and why",
        "slots of graphs, grants, ledger",
    )
    return [
        _box(ink, 310, 255, 340, 140, ink.ink, fill=ink.sunk),
        _text(480, 280, "PostgreSQL, its clock and its NOTIFY", ink.ink, bold=True),
        *(_text(480, 306 + 22 * n, line, ink.quiet) for n, line in enumerate(lines)),
    ]


def _scheduler(ink: Ink) -> list[str]:
    colour = ink.scheduler
    return [
        _text(480, 28, "Scheduler workers: run what is due", colour, bold=True),
        *_steps(
            ink,
            colour,
            40,
            ("claim", "lease and epoch"),
            ("execute", "call the target"),
            ("finish", "apply the outcome"),
            ("governor", "decides next_run_at"),
        ),
        _arrow("M 395 255 C 330 190, 200 200, 174 112", colour, "what is due"),
        _text(205, 215, "what is due", colour),
        _arrow("M 786 112 C 760 200, 630 190, 565 255", colour, "run and plan"),
        _text(755, 215, "run, next plan", colour),
        _box(ink, 405, 158, 150, 50, ink.rule),
        _text(480, 178, "targets", ink.ink),
        _text(480, 196, "HTTP, command, function", ink.quiet, size=11),
        _arrow("M 400 112 C 410 130, 430 140, 445 156", ink.quiet, "request", both=True),
    ]


def _planner(ink: Ink) -> list[str]:
    colour = ink.planner
    return [
        _text(480, 625, "Planner workers: advise, in hints that expire", colour, bold=True),
        *_steps(
            ink,
            colour,
            530,
            ("look", "at what ran"),
            ("brain", "rules, detectors, model"),
            ("tools", "checked and bounded"),
            ("hint", "a reason and an end"),
        ),
        _arrow("M 395 395 C 330 460, 200 450, 174 528", colour, "answers and health"),
        _text(200, 440, "answers, health", colour),
        _arrow("M 786 528 C 760 450, 630 460, 565 395", colour, "hint and nudge"),
        _text(765, 440, "hint, and a nudge", colour),
    ]


def _graphs(ink: Ink) -> list[str]:
    colour = ink.graphs
    return [
        _box(ink, 760, 255, 180, 140, colour),
        _text(850, 278, "Graph workers", colour, bold=True),
        _text(850, 302, "slot under a grant", ink.ink),
        _text(850, 324, "graph in a child process", ink.ink),
        _text(850, 346, "models by a gateway", ink.ink),
        _text(850, 368, "started at most once", ink.quiet),
        _arrow("M 652 305 L 756 305", colour, "slot"),
        _text(705, 298, "slot", colour),
        _arrow("M 756 350 L 654 350", colour, "result and charges"),
        _text(705, 368, "result, charges", colour),
    ]


def _people(ink: Ink) -> list[str]:
    colour = ink.people
    return [
        _box(ink, 20, 255, 180, 140, colour),
        _text(110, 278, "People", colour, bold=True),
        _text(110, 302, "file, command line", ink.ink),
        _text(110, 324, "dashboard, API", ink.ink),
        _text(110, 346, "overrule everybody", ink.quiet),
        _text(110, 368, "read why it ran at 03:47", ink.quiet),
        _arrow("M 204 305 L 306 305", colour, "limits, hints, pauses"),
        _text(255, 298, "limits, pauses", colour),
        _arrow("M 306 350 L 206 350", colour, "why"),
        _text(255, 368, "why, events", colour),
    ]


# --- Shapes ---------------------------------------------------------------------------------


def _steps(ink: Ink, colour: str, top: int, *steps: tuple[str, str]) -> list[str]:
    shapes: list[str] = []
    for number, (name, about) in enumerate(steps):
        left = 84 + 204 * number
        shapes += [
            _box(ink, left, top, 180, 70, colour),
            _text(left + 90, top + 30, name, ink.ink, bold=True),
            _text(left + 90, top + 52, about, ink.quiet),
        ]
        if number:
            shapes.append(_arrow(f"M {left - 22} {top + 35} L {left - 3} {top + 35}", colour, ""))
    return shapes


def _box(ink: Ink, x: int, y: int, width: int, height: int, stroke: str, fill: str = "") -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" '
        f'fill="{fill or ink.paper}" stroke="{stroke}" stroke-width="1.5"/>'
    )


def _text(x: int, y: int, text: str, fill: str, *, bold: bool = False, size: int = 13) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="middle" fill="{fill}" font-size="{size}"{weight}>'
        f"{escape(text)}</text>"
    )


def _arrow(path: str, colour: str, about: str, *, both: bool = False) -> str:
    mark = f"url(#{_mark_id(colour)})"
    start = f' marker-start="{mark}"' if both else ""
    title = f"<title>{escape(about)}</title>" if about else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8" '
        f'marker-end="{mark}"{start}>{title}</path>'
    )


def _mark(colour: str) -> str:
    return (
        f'<marker id="{_mark_id(colour)}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{colour}"/>'
        "</marker>"
    )


def _mark_id(colour: str) -> str:
    return f"to-{colour.removeprefix('#')}"


def pictures() -> Sequence[tuple[Path, str]]:
    return [
        (IMAGES / "loops-light.svg", picture(LIGHT)),
        (IMAGES / "loops-dark.svg", picture(DARK)),
    ]


if __name__ == "__main__":
    for path, drawn in pictures():
        path.write_text(drawn)
