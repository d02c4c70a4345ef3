"""The score of a flash sale: drawn, told in words, walked through by keys and pointer, kept in the
address; and the same for who does not see it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.scores import ScorePage, score_on
from tests.browser.test_pages import faults_on
from tests.browser.watching import PHONE, Person, World, person_of

FAMILIES = ("baseline", "tight", "relaxed", "once", "hand", "limit", "danger")


@pytest.fixture
def score(sale: World, viewer: Person) -> ScorePage:
    return score_on(viewer, sale.server.site.ours.ids["jobs"])


def test_every_family_is_drawn_in_its_colour(score: ScorePage) -> None:
    assert {name: score.pixels(name) > 0 for name in FAMILIES} == dict.fromkeys(FAMILIES, True)


def test_it_is_told_in_plain_words(score: ScorePage) -> None:
    story = score.page.locator("#score-story").inner_text()
    assert re.match(
        r"\d+ runs, \d\d\.\d+ % succeeded\. \d+ rules and 1 person tightened 4 endpoints from ",
        story,
    )
    assert "single runs were requested" in story
    assert "off the baseline now" in story


def test_a_screen_reader_has_it_as_a_table(score: ScorePage) -> None:
    rows = score.rows()
    assert any("inventory_sync_check | Baseline" in row and "planned" in row for row in rows)
    asked = "Asked once | Single run: check the stock before the report | Succeeded, 200"
    assert any(asked in row for row in rows)
    score.page.get_by_role("button", name="Table").click()
    expect(score.page.locator("#score-table table")).to_be_visible()


def test_keys_walk_through_it(score: ScorePage) -> None:
    score.press("Home", "f")
    assert "Failed, 429" in score.said()
    score.press("p")
    assert "Tightened" in score.said() or "Asked once" in score.said()
    lane = score.said().split(":")[0]
    score.press("ArrowDown")
    assert score.said().split(":")[0] != lane
    before = score.said()
    score.press("ArrowLeft")
    assert score.said() != before
    score.press("Escape")
    assert score.said() == ""


def test_enter_says_why_then(score: ScorePage) -> None:
    score.press("Home", "f", "Enter")
    why = score.page.locator("#score-why")
    why.get_by_role("heading", name=re.compile("Why did .* run at")).wait_for()
    assert "chosen" in why.inner_text()
    assert "429" in why.inner_text()
    score.wait_for_query("run")
    score.page.reload()
    why.get_by_role("heading", name=re.compile("Why did .* run at")).wait_for()
    why.get_by_role("button", name="Close").click()
    score.wait_for_query("run", there=False)
    expect(why).to_be_hidden()


def test_zoom_is_in_the_address_so_that_reload_and_back_show_the_same(score: ScorePage) -> None:
    score.press("+")
    score.wait_for_query("view")
    view = score.query("view")
    score.page.reload()
    score.page.locator("#score[data-ready]").wait_for()
    assert score.query("view") == view
    score.page.go_back()
    score.wait_for_query("view", there=False)
    score.page.go_forward()
    score.wait_for_query("view")
    score.press("0")
    score.wait_for_query("view", there=False)


def test_out_of_the_whole_range_is_a_wider_one(score: ScorePage) -> None:
    score.press("-")
    score.wait_for_query("range")
    assert score.query("range") == "3h"
    score.page.get_by_role("button", name="15 min").click()
    score.page.wait_for_function("() => location.search === '?range=15m'")


def test_a_drag_zooms_to_it_and_a_double_click_out_again(score: ScorePage) -> None:
    box, mouse = score.box(), score.page.mouse
    mouse.move(box["x"] + 200, box["y"] + 400)
    mouse.down()
    mouse.move(box["x"] + 320, box["y"] + 410, steps=4)
    mouse.up()
    score.wait_for_query("view")
    for _ in range(3):
        score.plot.dblclick(position={"x": 300, "y": 380})
    score.wait_for_query("view", there=False)


def test_the_wheel_alone_scrolls_the_page(score: ScorePage) -> None:
    box, page = score.box(), score.page
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    page.mouse.wheel(0, 300)
    page.wait_for_function("() => scrollY > 0 || document.querySelector('.lanes').scrollTop > 0")
    assert score.query("view") is None
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    score.wait_for_query("view")


def test_the_legend_filters(score: ScorePage) -> None:
    tight, once = score.pixels("tight"), score.pixels("once")
    score.page.get_by_role("button", name=re.compile("^Asked once")).click()
    score.wait_for_query("only")
    assert score.query("only") == "once"
    assert score.pixels("once") == once
    assert score.pixels("tight") < tight / 2


def test_another_answer_can_be_chosen(score: ScorePage) -> None:
    choice = score.page.get_by_label("Response value in row 2")
    group = choice.locator('optgroup[label="traffic_monitor"]')
    key = group.locator("option", has_text="page_load_ms").get_attribute("value")
    choice.select_option(key)
    score.wait_for_query("value")
    score.page.reload()
    score.page.locator("#score[data-ready]").wait_for()
    expect(choice).to_have_value(key)


def test_a_tip_says_what_is_under_the_pointer(score: ScorePage) -> None:
    box, tip = score.box(), score.page.locator("#score .tip")
    lane = score.page.locator("#score .lane", has_text="order_processor_health").bounding_box()
    assert lane is not None
    score.page.mouse.move(box["x"] + box["width"] - 60, lane["y"] + 20)
    tip.get_by_text("Relaxed: every 5 min").wait_for()
    assert "By the rule “the shop is calm”" in tip.inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(sale: World, chromium: Browser, theme: Any) -> None:
    with person_of(sale, chromium, color_scheme=theme) as person:
        person.sign_in()
        score = score_on(person, sale.server.site.ours.ids["jobs"])
        assert faults_on(score.page) == []
        score.press("Home", "f", "Enter")
        score.page.locator("#score-why h2").wait_for()
        score.page.get_by_role("button", name="Table").click()
        assert faults_on(score.page) == []
        person.check_nothing_went_wrong()


def test_a_phone_is_wide_enough_and_two_fingers_zoom(sale: World, chromium: Browser) -> None:
    with person_of(sale, chromium, viewport=PHONE, has_touch=True) as person:
        person.sign_in()
        score = score_on(person, sale.server.site.ours.ids["jobs"])
        assert score.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        score.plot.scroll_into_view_if_needed()
        _pinch(score)
        score.wait_for_query("view")
        person.check_nothing_went_wrong()


def _pinch(score: ScorePage) -> None:
    box, touch = score.box(), score.page.context.new_cdp_session(score.page)
    y, middle = box["y"] + 60, box["x"] + box["width"] / 2
    for kind, apart in (("touchStart", 20), ("touchMove", 50), ("touchMove", 90)):
        points = [{"x": middle - apart, "y": y, "id": 0}, {"x": middle + apart, "y": y, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


# What is written beside a flag at 100 px, and how much room it has, where a hint begins at 140 px.
ROOM = """async () => {
  const at = document.querySelector("script[src*='score/page']").src.replace("page", "flags");
  const { drawFlags } = await import(at);
  const written = [], g = new OffscreenCanvas(1, 1).getContext("2d");
  const frame = { g, palette: {}, width: 1000, now: 900, scale: { x: (time) => time / 100 },
    text: (text, x, y, room) => written.push([text, x, room]) };
  const windows = [{ kind: "tight", from: 14000, to: 50000, everyMs: 1000, reason: "calm" }];
  drawFlags(frame, { windows, flags: [{ at: 10000, by: "planner", label: "a rush" }] }, 0);
  return written;
}"""


def test_what_stands_beside_a_flag_ends_before_the_next_hint_begins(score: ScorePage) -> None:
    ((text, x, room),) = score.page.evaluate(ROOM)
    assert text == "a rush"
    assert x + room <= 140
