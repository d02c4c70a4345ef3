"""What a frame of the score costs, in milliseconds of the browser's main thread:
`python -m tests.browser.frames`. 50 lanes of 2,000 runs, all in sight, zoomed and pointed at; and
10,000 lanes, scrolled."""

import sys
from collections.abc import Callable

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.backends import MEMORY
from tests.browser.conftest import launched
from tests.browser.crowded_score import crowded_job
from tests.browser.scores import score_on
from tests.browser.watching import Person, person_of, world_of
from tests.web.support import listening

FRAMES = 40
EACH = """async ({ act, count }) => {
  const plot = document.querySelector("#score .plot[tabindex]"), box = plot.getBoundingClientRect();
  const lanes = document.querySelector("#score .lanes");
  const at = (i) => ({ clientX: box.left + 100 + 5 * i, clientY: box.top + 30, bubbles: true });
  const acts = {
    point: (i) => plot.dispatchEvent(new PointerEvent("pointermove", { ...at(i), pointerId: 1 })),
    zoom: (i) => plot.dispatchEvent(new WheelEvent("wheel",
      { ...at(60), ctrlKey: true, deltaY: i % 2 ? 6 : -6, cancelable: true })),
    scroll: () => { lanes.scrollTop += 300; },
  };
  for (let i = 0; i < count; i++) {
    acts[act](i);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""


def main() -> None:
    with sync_playwright() as playwright:
        browser = launched(playwright)
        for lanes, runs, height, acts in (
            (50, 2_000, 3_800, ("zoom", "point")),
            (10_000, 5, 900, ("scroll",)),
        ):
            with listening(MEMORY) as server:
                world = world_of(server)
                job_id = crowded_job(world, lanes, runs)
                with person_of(
                    world, browser, viewport={"width": 1280, "height": height}
                ) as person:
                    person.sign_in()
                    _measure(person, job_id, f"{lanes:,} lanes of {runs:,} runs", acts)
        browser.close()


def _measure(person: Person, job_id: str, what: str, acts: tuple[str, ...]) -> None:
    page = score_on(person, job_id, "?range=24h").page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    for act in acts:
        script, task = _cost(session, lambda act=act: _do(page, act))
        nodes = page.evaluate("document.querySelectorAll('#score .score *').length")
        sys.stdout.write(
            f"{what}, {act}: {script:.1f} ms of script a frame, {task:.1f} in all; {nodes} nodes\n"
        )


def _do(page: Page, act: str) -> None:
    page.evaluate(EACH, {"act": act, "count": FRAMES})


def _cost(session: CDPSession, do: Callable[[], None]) -> tuple[float, float]:
    before = _spent(session)
    do()
    after = _spent(session)
    spent = {name: 1000 * (after[name] - before[name]) / FRAMES for name in after}
    return spent["ScriptDuration"], spent["TaskDuration"]


def _spent(session: CDPSession) -> dict[str, float]:
    return {row["name"]: row["value"] for row in session.send("Performance.getMetrics")["metrics"]}


if __name__ == "__main__":
    main()
