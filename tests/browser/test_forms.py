"""Forms that cannot be saved: every wrong field at its place, the first focused, what was typed
kept."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_pages import faults_on
from tests.browser.watching import Person, World

ENDPOINT = {
    "Name": "a/b",
    "Every": "5 parsecs",
    "Minimum interval": "soon",
    "Maximum interval": "400d",
    "URL": "ftp://shop.example/",
    "Headers": "no colon here",
    "Timeout": "eons",
    "Redirects to follow": "many",
    "Success status codes": "42",
    "Success condition": "body.((",
    "Graph input": "{not json",
}
RULE = {"Name": "a/b", "Condition": "response.((", "Interval or time": "eons", "Cooldown": "never"}
JOB = {"Name": "a/b", "Extra runs": "-1", "Time between analyses": "1s", "Dollars per day": "lots"}
KEY = {"Name": "", "Valid for (days)": "eons"}
HINT = {"Every": "often", "Duration": "a while"}
PAUSE = {"For how long": "a while", "Reason": "x" * 501}


def wrong(page: Page) -> dict[str, str]:
    """What is said of each field that is wrong, by the words of its label."""
    fields = page.locator("#main [aria-invalid=true]").evaluate_all(
        """fields => fields.map(e => [e.labels[0].textContent.trim(),
          document.getElementById(`e-${e.name}`).textContent])"""
    )
    return dict(fields)


@pytest.mark.parametrize(
    ("path", "button", "typed"),
    [
        ("/jobs/{job}/endpoints/new", "Create endpoint", ENDPOINT),
        ("/endpoints/{endpoint}/edit", "Save", ENDPOINT),
        ("/jobs/{job}/rules/new", "Create rule", RULE),
        ("/jobs/new", "Create job", JOB),
        ("/jobs/{job}/edit", "Save", JOB),
        ("/settings", "Create key", KEY),
        ("/endpoints/{endpoint}/hint", "Set hint", HINT),
        ("/endpoints/{endpoint}/pause-until", "Pause", PAUSE),
    ],
)
def test_every_wrong_field_is_told_beside_it(
    world: World, person: Person, path: str, button: str, typed: dict[str, str]
) -> None:
    endpoint = world.endpoint()
    page = person.go(path.format(job=endpoint["job_id"], endpoint=endpoint["id"]))
    page.evaluate("document.querySelectorAll('#main details').forEach(e => { e.open = true })")
    for label, text in typed.items():
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_role("alert")).to_have_text(
        f"Nothing was saved: {len(typed)} fields need a change."
    )
    assert sorted(wrong(page)) == sorted(typed)
    assert all(wrong(page).values())
    for label, text in typed.items():
        expect(page.get_by_label(label, exact=True)).to_be_visible()
        expect(page.get_by_label(label, exact=True)).to_have_value(text)
    expect(page.get_by_label(next(iter(typed)), exact=True)).to_be_focused()
    assert page.title().startswith("Not saved: ")
    assert faults_on(page) == []
    person.messages.clear()  # the browser says 422


def test_a_form_that_came_back_is_not_drawn_anew(world: World, person: Person) -> None:
    page = person.go("/settings")
    page.get_by_label("Valid for (days)").fill("eons")
    page.get_by_role("button", name="Create key").click()
    page.get_by_role("alert").wait_for()
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("document.body.dispatchEvent(new Event('cadenza:changed'))")
    page.evaluate("fetch('/healthz').then(() => null)")  # it would be asked for after that
    assert [url for url in asked if not url.endswith("/healthz")] == []
    expect(page.get_by_label("Valid for (days)")).to_have_value("eons")
    person.messages.clear()  # the browser says 422


def test_typing_into_a_choice_chooses_it(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}/edit")
    page.get_by_label("Expression", exact=True).fill("0 9 * * *")
    expect(page.get_by_label("Cron", exact=True)).to_be_checked()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="orders").wait_for()
    assert world.done("GET", f"/endpoints/{endpoint['id']}")["baseline"]["cron"] == "0 9 * * *"
