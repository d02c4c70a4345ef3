"""Live updates: seen without a reload, shared by tabs, and never in a person's way."""

import pytest
from playwright.sync_api import expect

from tests.browser.watching import Person, World
from tests.factories import FAILED


def test_a_run_shows_up_without_a_reload(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    person.wait_until_live()
    page.evaluate("window.notReloaded = true")
    world.run(endpoint, FAILED)
    page.locator("#score td").get_by_text("failed").first.wait_for()
    assert page.evaluate("window.notReloaded") is True
    page.wait_for_function("document.getElementById('icon').href.endsWith('icon-failing.svg')")


def test_what_happens_is_told_in_words_with_a_way_to_it(world: World, person: Person) -> None:
    endpoint = world.endpoint("needle")
    page = person.go("/activity")
    person.wait_until_live()
    world.run(endpoint, FAILED)
    item = page.locator("#happening-list li", has_text="run failed")
    expect(item.get_by_role("link", name="needle")).to_have_attribute(
        "href", f"/endpoints/{endpoint['id']}"
    )
    expect(item).not_to_contain_text("id:")
    item.get_by_role("link", name="run", exact=True).click()
    page.get_by_role("heading", name="Response").wait_for()


def test_an_update_moves_neither_focus_nor_text_nor_scroll_nor_a_menu(
    world: World, person: Person
) -> None:
    endpoint = world.endpoint()
    for number in range(40):
        world.endpoint(f"other {number}")
    page = person.go("/jobs/endpoints")
    person.wait_until_live()
    page.locator("#q-search").fill("half a wo")
    page.locator("#q-search").evaluate("field => field.setSelectionRange(2, 4)")
    page.evaluate("scrollTo(0, 120)")
    page.locator(".who summary").evaluate("summary => summary.parentElement.open = true")
    world.run(endpoint, FAILED)
    page.locator(f"#endpoint-{endpoint['id']}").get_by_text("failed").wait_for()
    field = page.locator("#q-search")
    assert field.input_value() == "half a wo"
    assert field.evaluate("field => [field.selectionStart, field.selectionEnd]") == [2, 4]
    assert page.evaluate("document.activeElement.id") == "q-search"
    assert page.evaluate("scrollY") == 120
    assert page.locator(".who").evaluate("menu => menu.open") is True


def test_a_menu_of_the_page_itself_stays_open(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    person.wait_until_live()
    page.get_by_text("More", exact=True).click()
    world.run(endpoint, FAILED)
    page.locator("#score td").get_by_text("failed").first.wait_for()
    assert page.get_by_role("link", name="Pause until…").is_visible()


def test_rows_that_are_chosen_and_what_is_typed_beside_them_stay(
    world: World, person: Person
) -> None:
    endpoint, other = world.endpoint(), world.endpoint("other")
    page = person.go("/jobs/endpoints")
    person.wait_until_live()
    page.locator(f"#pick-{other['id']}").check()
    page.locator("#bulk-reason").fill("half a rea")
    world.run(endpoint, FAILED)
    page.locator(f"#endpoint-{endpoint['id']}").get_by_text("failed").wait_for()
    assert page.locator(f"#pick-{other['id']}").is_checked()
    assert not page.locator(f"#pick-{endpoint['id']}").is_checked()
    expect(page.locator("#chosen")).to_have_text("1 selected")
    assert page.locator("#bulk-reason").input_value() == "half a rea"
    assert page.evaluate("document.activeElement.id") == "bulk-reason"


def test_text_that_is_selected_stays_and_is_drawn_anew_when_it_is_let_go(
    world: World, person: Person
) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    person.wait_until_live()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
    world.run(endpoint, FAILED)
    page.wait_for_timeout(1500)  # long enough for a drawing that must not happen
    assert page.evaluate("getSelection().toString()").startswith("orders")
    assert page.locator("#score td").get_by_text("failed").count() == 0
    page.evaluate("getSelection().removeAllRanges()")
    page.locator("#score td").get_by_text("failed").first.wait_for()


def test_paused_means_that_nothing_moves(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    person.wait_until_live()
    page.keyboard.press("l")
    page.locator("#live[data-state=paused]").wait_for()
    world.run(endpoint, FAILED)
    other = person.tab(f"/endpoints/{endpoint['id']}")
    other.locator("#score td").get_by_text("failed").first.wait_for()
    page.bring_to_front()
    assert page.locator("#score td").get_by_text("failed").count() == 0
    page.keyboard.press("l")
    page.locator("#score td").get_by_text("failed").first.wait_for()


def test_ten_tabs_share_one_stream_and_an_eleventh_loads_at_once(
    world: World, person: Person
) -> None:
    endpoint = world.endpoint()
    person.go("/")
    person.wait_until_live()
    tabs = [person.tab("/jobs/endpoints") for _ in range(10)]
    for tab in tabs:
        person.wait_until_live(tab)
    person.wait_for_streams(1)
    world.run(endpoint, FAILED)
    for tab in tabs:
        tab.locator(f"#endpoint-{endpoint['id']}").get_by_text("failed").wait_for()
    person.wait_for_streams(1)


def test_without_shared_workers_one_tab_leads(world: World, person: Person) -> None:
    person.context.add_init_script("delete globalThis.SharedWorker")
    endpoint = world.endpoint()
    first = person.go("/jobs/endpoints")
    second = person.tab("/jobs/endpoints")
    for page in (first, second):
        person.wait_until_live(page)
    world.run(endpoint, FAILED)
    for page in (first, second):
        page.locator(f"#endpoint-{endpoint['id']}").get_by_text("failed").wait_for()
    person.wait_for_streams(1)


def test_a_page_that_is_left_holds_no_stream(world: World, person: Person) -> None:
    person.go("/")
    person.wait_until_live()
    person.wait_for_streams(1)
    person.go("/sign-in/again")  # signed in: on to the overview
    person.wait_until_live()
    person.wait_for_streams(1)


def test_being_cut_off_is_shown(world: World, person: Person) -> None:
    page = person.go("/")
    person.wait_until_live()
    told = page.locator("#live-said")  # for a screen reader: nothing while all is well
    expect(told).to_have_text("")
    world.server.loop.call_soon_threadsafe(
        world.server.site.app.state.dependencies.around.streams.end
    )
    page.locator("#live[data-state=cut]").wait_for()
    expect(page.locator("#live")).to_have_text("Disconnected")
    expect(told).to_have_text("Disconnected: this page is no longer updated")


@pytest.mark.parametrize("path", ["/jobs/new", "/settings"])
def test_a_form_is_not_drawn_anew_while_somebody_types(
    world: World, person: Person, path: str
) -> None:
    endpoint = world.endpoint()
    page = person.go(path)
    person.wait_until_live()
    page.locator("#f-name").fill("half")
    world.run(endpoint, FAILED)
    page.wait_for_timeout(2500)  # long enough for a drawing that must not happen
    assert page.locator("#f-name").input_value() == "half"
