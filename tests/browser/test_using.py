"""A person uses the dashboard: sign in and out, create, pause, hint, accept, revoke."""

from playwright.sync_api import Browser

from cadenza.domain.run import Outcome, RunStatus
from tests.browser.watching import Person, World, person_of
from tests.web.suggesting import suggest_interval


def test_a_link_signs_in_once(world: World, chromium: Browser) -> None:
    link = world.done("POST", "/sign-in-links")["path"]
    with person_of(world, chromium) as person, person_of(world, chromium) as other:
        person.go(link)
        assert person.path() == "/"
        other.go(link)
        assert other.path() == "/sign-in"
        assert "used, or is older" in other.page.locator("main").inner_text()
        person.check_nothing_went_wrong()


def test_out_again_means_out(person: Person) -> None:
    page = person.page
    page.get_by_label("Your account").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    person.go("/jobs")
    assert person.path() == "/sign-in"


def test_the_first_three_commands_are_copied_with_the_real_address(
    world: World, person: Person
) -> None:
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = person.go("/")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert len(copied.splitlines()) == 3
    assert f"--url {world.server.url}/healthz" in copied


def test_a_job_and_an_endpoint_are_made_with_their_next_runs_in_sight(
    world: World, person: Person
) -> None:
    page = person.go("/jobs")
    page.get_by_role("link", name="New job").click()
    page.get_by_label("Name").fill("shop")
    page.get_by_role("button", name="Create job").click()
    page.get_by_role("link", name="Add the first endpoint").click()
    page.get_by_label("Name").fill("orders")
    page.get_by_label("Cron", exact=True).check()
    page.get_by_label("Expression", exact=True).fill("0 9 * * *")
    page.get_by_label("Time zone").fill("Asia/Tokyo")
    page.locator("#draft").get_by_text("09:00:00 JST").first.wait_for()
    page.get_by_label("Expression", exact=True).fill("61 9 * * *")
    page.locator("#draft .bad-text").wait_for()
    page.get_by_label("Expression", exact=True).fill("0 9 * * *")
    page.get_by_label("URL", exact=True).fill("https://shop.example/orders")
    page.get_by_role("button", name="Create endpoint").click()
    page.get_by_role("heading", name="orders").wait_for()
    (stored,) = world.done("GET", "/endpoints")["items"]
    assert stored["baseline"] == {
        "cron": "0 9 * * *",
        "timezone": "Asia/Tokyo",
        "every_ms": None,
        "on_demand": False,
    }


def test_stopping_is_one_click(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Resume").wait_for()
    assert world.done("GET", f"/endpoints/{endpoint['id']}")["pauses"][0]["by"] == "person"
    person.go("/planner").get_by_role("button", name="Stop the planner everywhere").click()
    page.get_by_text("Planner stopped.").wait_for()


def test_a_hint_is_set_and_cleared(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/endpoints/{endpoint['id']}")
    page.get_by_role("link", name="Hint…").click()
    page.get_by_label("Every").fill("1m")
    page.get_by_label("Reason").fill("a sale")
    page.get_by_role("button", name="Set hint").click()
    page.get_by_text("“a sale”").wait_for()
    page.locator("#main").get_by_role("button", name="Clear hints").last.click()
    page.get_by_text("None. It runs on its baseline.").wait_for()


def test_a_suggestion_is_accepted(world: World, person: Person) -> None:
    endpoint, site = world.endpoint(), world.server.site
    world.server.wait_for(suggest_interval(site, site.ours, endpoint))
    page = person.go("/planner")
    page.get_by_role("button", name="Accept").click()
    page.get_by_text("Suggestion accepted.").wait_for()
    assert world.done("GET", f"/endpoints/{endpoint['id']}")["hints"][0]["interval_ms"] == 60_000


def test_a_double_click_creates_one_key(world: World, person: Person) -> None:
    page = person.go("/settings")
    page.get_by_label("Name", exact=True).fill("once")
    page.get_by_role("button", name="Create key").dblclick()
    page.get_by_role("heading", name="New key").wait_for()
    assert [key["name"] for key in world.done("GET", "/keys")["items"]].count("once") == 1


def test_a_form_outlives_its_sign_in(world: World, person: Person) -> None:
    page = person.go("/jobs/new")
    page.get_by_label("Name").fill("typed for long")
    person.context.clear_cookies(name="cadenza_sign_in")
    page.get_by_role("button", name="Create job").click()
    with person.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in").click()
    opened.value.fill("#f-key", world.key())
    opened.value.get_by_role("button", name="Sign in").click()
    opened.value.wait_for_url(f"{world.server.url}/")
    page.get_by_role("button", name="Send again").click()
    page.get_by_role("heading", name="Send the form again").wait_for()
    page.get_by_role("button", name="Send again").click()
    page.get_by_role("heading", name="typed for long").wait_for()
    person.messages.clear()  # the browser says 401 and 403 of the two answers


def test_a_key_is_revoked_after_a_question(world: World, person: Person) -> None:
    key = world.done("POST", "/keys", {"name": "robot", "scopes": ["read"]})
    row = person.go("/settings").locator(f"#key-{key['id']}")
    row.get_by_text("Revoke…").click()
    row.get_by_role("button", name="Revoke robot").click()
    person.page.get_by_text("Key robot revoked.").wait_for()
    keys = {row["id"]: row for row in world.done("GET", "/keys")["items"]}
    assert keys[key["id"]]["revoked_at"] is not None


def test_a_suggestion_is_dismissed_and_that_undone(world: World, person: Person) -> None:
    endpoint, site = world.endpoint(), world.server.site
    session = world.server.wait_for(suggest_interval(site, site.ours, endpoint))
    page = person.go("/")
    page.get_by_role("button", name="Dismiss").click()
    page.get_by_text("Suggestion dismissed for a while.").wait_for()
    person.go(f"/planner/{session.id}").get_by_role("button", name="Undo dismissal").click()
    page.get_by_text("Dismissal undone.").wait_for()


def test_an_endpoint_is_edited_run_and_tested(world: World, person: Person) -> None:
    endpoint = world.endpoint(url=f"{world.server.url}/healthz")
    page = person.go(f"/endpoints/{endpoint['id']}")
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Every", exact=True).fill("10m")
    page.locator("#draft").get_by_text("in 9 min 59 s").first.wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Endpoint saved.").wait_for()
    page.get_by_role("button", name="Run now").click()
    page.get_by_text("Run requested").wait_for()
    assert world.server.wait_for(world.server.site.backend.run_due()) == 1
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Test (does not count").click()
    page.get_by_text("Called once").wait_for()
    assert world.done("GET", f"/endpoints/{endpoint['id']}")["baseline"]["every_ms"] == 600_000


def test_several_are_paused_at_once(world: World, person: Person) -> None:
    endpoints = [world.endpoint(f"orders {number}") for number in range(3)]
    page = person.go("/jobs/endpoints?sort=created_at")
    pause = page.get_by_role("button", name="Pause", exact=True)
    assert pause.is_hidden()  # until something is chosen
    page.get_by_label("Select orders 0").check()
    page.get_by_label("Select orders 2").check()
    page.get_by_text("2 selected").wait_for()
    page.locator("#bulk-reason").fill("a deploy")
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_text("2 endpoints paused.").wait_for()
    assert page.url.endswith("sort=created_at")
    pauses = [world.done("GET", f"/endpoints/{one['id']}")["pauses"] for one in endpoints]
    assert [len(pause) for pause in pauses] == [1, 0, 1]
    page.get_by_label("Select all on this page").check()
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("2 endpoints resumed, 1 already so.").wait_for()


def test_a_job_is_changed_as_yaml_with_its_difference_in_sight(
    world: World, person: Person
) -> None:
    endpoint = world.endpoint()
    page = person.go(f"/jobs/{endpoint['job_id']}")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="YAML").click()
    text = page.locator("#f-yaml").input_value()
    page.locator("#f-yaml").fill(text.replace("every: 5m", "every: soon"))
    page.locator("#outcome").get_by_role("button", name="Line 6").click()
    chosen = "area => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert "every: soon" in page.locator("#f-yaml").evaluate(chosen)
    page.locator("#f-yaml").fill(text.replace("every: 5m", "every: 10m"))
    page.locator("#outcome .change ins").get_by_text("10m").wait_for()
    page.get_by_role("button", name="Show changes").click()
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("Applied: 1 change.").wait_for()
    assert world.done("GET", f"/endpoints/{endpoint['id']}")["baseline"]["every_ms"] == 600_000


def test_a_rule_is_written_and_tried_while_one_types(world: World, person: Person) -> None:
    endpoint = world.endpoint()
    answer = Outcome(RunStatus.SUCCESS, status_code=200, body={"visitors": 5000})
    world.run(endpoint, answer)
    page = person.go(f"/jobs/{endpoint['job_id']}")
    page.get_by_role("link", name="New rule").click()
    page.get_by_label("Name", exact=True).fill("busy")
    page.get_by_label("Condition").fill("response.visitors > 9000")
    page.get_by_label("Interval or time").fill("1m")
    page.locator("#trial").get_by_text("false", exact=True).wait_for()
    page.get_by_label("Condition").fill("response.visitors > 4000")
    page.locator("#trial").get_by_text("true", exact=True).wait_for()
    page.get_by_role("button", name="Create rule").click()
    page.get_by_text("Rule busy saved.").wait_for()
    (rule,) = world.done("GET", f"/jobs/{endpoint['job_id']}")["rules"]
    assert rule["then"] == {"interval": "1m"}


def test_the_planner_is_stopped_and_started_again(world: World, person: Person) -> None:
    page = person.go("/planner")
    page.get_by_role("button", name="Stop the planner everywhere").click()
    page.get_by_text("Planner stopped.").wait_for()
    person.go("/").get_by_text("no rule, detector or model acts").wait_for()
    person.go("/planner").get_by_role("button", name="Restart the planner").click()
    page.get_by_role("button", name="Stop the planner everywhere").wait_for()
    assert world.done("GET", "/tenant")["rules_mode"] == "act"
