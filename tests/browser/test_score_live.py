"""The score while things happen: news without a reload, nothing that moves under a person's hands,
many lanes, none, and names that mean harm."""

from playwright.sync_api import expect

from tests.browser.crowded_score import crowded_job
from tests.browser.scores import ScorePage, score_on
from tests.browser.watching import Person, World
from tests.factories import FAILED

HOSTILE = "<img src=x onerror=window.hacked=1>"


def test_a_run_is_seen_without_a_reload(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    score = score_on(person, endpoint["job_id"])
    person.wait_until_live()
    score.page.evaluate("window.notReloaded = true")
    before = score.pixels("hand")
    world.run(endpoint, FAILED)
    score.row("Failed").wait_for(state="attached")
    assert score.pixels("hand") > before
    expect(score.page.locator("#score-story")).to_contain_text("1 run, 0 % succeeded")
    assert score.page.evaluate("window.notReloaded") is True


def test_an_update_moves_neither_focus_nor_choice_nor_zoom_nor_scroll(
    world: World, person: Person
) -> None:
    endpoint = world.endpoint()
    world.run(endpoint)
    score = score_on(person, endpoint["job_id"])
    person.wait_until_live()
    score.press("Home", "Enter", "+")
    score.page.locator("#score-why h2").wait_for()
    score.wait_for_query("view")
    view, run, said = score.query("view"), score.query("run"), score.said()
    score.page.evaluate("scrollTo(0, 90)")
    world.run(endpoint, FAILED)
    score.page.locator("#score-legend").get_by_text("failed 1").wait_for()
    assert (score.query("view"), score.query("run")) == (view, run)
    assert score.said() == said
    assert score.page.evaluate("document.activeElement.getAttribute('role')") == "application"
    assert score.page.evaluate("scrollY") == 90
    assert score.page.locator("#score-why h2").is_visible()


def test_paused_means_that_the_score_stands_still(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    score = score_on(person, endpoint["job_id"])
    person.wait_until_live()
    score.page.keyboard.press("l")
    score.page.locator("#live[data-state=paused]").wait_for()
    world.run(endpoint, FAILED)
    other = person.tab(f"/jobs/{endpoint['job_id']}")
    ScorePage(other).row("Failed").wait_for(state="attached")
    score.page.bring_to_front()
    assert score.row("Failed").count() == 0
    score.page.keyboard.press("l")
    score.row("Failed").wait_for(state="attached")


def test_before_the_first_run_what_is_planned_stands_alone(world: World, person: Person) -> None:
    now = world.server.wait_for(world.server.site.now())
    endpoint = world.endpoint(cron=f"{(now.minute + 5) % 60} * * * *")  # not due while we look
    score = score_on(person, endpoint["job_id"], "?range=1h")
    story = score.page.locator("#score-story").inner_text()
    assert story.startswith("No runs in this range. The next run is in ")
    assert "planned" in score.rows()[0]
    job = world.done("POST", "/jobs", {"name": "nothing in it"})
    person.go(f"/jobs/{job['id']}").get_by_text("No endpoints yet").wait_for()


def test_names_and_reasons_that_mean_harm_do_none(world: World, person: Person) -> None:
    endpoint = world.endpoint(HOSTILE)
    hint = {"interval": "1s", "reason": HOSTILE}
    world.done("POST", f"/endpoints/{endpoint['id']}/hints/interval", hint)
    world.run(endpoint, FAILED)
    score = score_on(person, endpoint["job_id"])
    score.press("Home", "Enter")
    score.page.locator("#score-why h2").wait_for()
    assert HOSTILE in score.said()
    assert HOSTILE in score.page.locator("#score .tip").inner_text()
    assert score.page.evaluate("window.hacked") is None


def test_of_many_lanes_those_in_sight_are_there(world: World, person: Person) -> None:
    count = 260
    score = score_on(person, crowded_job(world, lanes=count, runs=0, on_demand=True))
    labels = score.page.locator("#score .lane")
    assert labels.count() < 40
    score.page.locator("#score .lanes").evaluate("(lanes) => lanes.scrollTop = lanes.scrollHeight")
    labels.get_by_text(f"lane {count - 1:05}").wait_for()
    assert labels.count() < 40
    expect(labels.get_by_text("lane 00000")).to_have_count(0)


def test_too_many_runs_are_columns_and_a_closer_look_tells_them_one_by_one(
    world: World, person: Person
) -> None:
    score = score_on(person, crowded_job(world, lanes=2, runs=2_500), "?range=24h")
    assert score.pixels("baseline") > 0
    rows = score.rows()
    assert any("lane 00000 |  | 2,500 runs" in row for row in rows)
    assert not any("HTTP 503" in row for row in rows)
    score.press("+", "+", "+", "+")
    score.row("HTTP 503").first.wait_for(state="attached")
    score.wait_for_query("view")
    score.press("0")
    score.page.wait_for_function("() => !location.search.includes('view=')")
    score.row("2,500 runs").first.wait_for(state="attached")


def test_a_lane_that_comes_later_shows_up_by_itself(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    score = score_on(person, endpoint["job_id"])
    person.wait_until_live()
    fields = {"name": "returns", "every": "5m", "url": "https://shop.example/returns"}
    world.done("POST", f"/jobs/{endpoint['job_id']}/endpoints", fields)
    score.page.locator("#score .lane").get_by_text("returns").wait_for()
    expect(score.page.locator("#score .lane")).to_have_count(2)


def test_lanes_that_were_not_in_sight_are_read_again_when_they_are(
    world: World, person: Person
) -> None:
    job_id = crowded_job(world, lanes=40, runs=0, on_demand=True)
    score = score_on(person, job_id)
    person.wait_until_live()
    endpoints = world.done("GET", f"/endpoints?job_id={job_id}&limit=200")["items"]
    world.run(next(endpoint for endpoint in endpoints if endpoint["name"] == "lane 00039"))
    score.page.locator("#score .lanes").evaluate("(lanes) => lanes.scrollTop = lanes.scrollHeight")
    score.page.locator("#score-legend button", has_text="By hand 1").wait_for()
    assert score.page.locator("#score .lane").count() < 40
