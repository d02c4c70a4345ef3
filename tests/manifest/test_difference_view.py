"""Changes as people read them, field by field."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import HealthCheck, given, settings

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.difference import ChangeKind, difference
from cadenza.domain.endpoint import CronLine, Every
from cadenza.domain.rule import Rule, RuleAction, Then
from cadenza.domain.target import HttpTarget, Secret, ShellTarget
from cadenza.manifest.difference_view import CHANGED_SECRET, FieldChange, field_changes
from tests.manifest.drawn import endpoints, jobs

MINUTE = timedelta(minutes=1)
WEB = HttpTarget("https://example.com/", headers={"X-A": "1"})
DEPTH = EndpointDefinition("depth", Every(MINUTE), WEB)
SHOP = JobDefinition("shop", "Watch.", (DEPTH,))
HUSH = "hush-hush-4711"
DEEP = Rule("deep queue", "response.depth > 300", Then(RuleAction.INTERVAL, MINUTE))
LATE = Rule("late", "health.is_late", Then(RuleAction.RUN_NOW))


def with_target(target: HttpTarget | ShellTarget) -> JobDefinition:
    return replace(SHOP, endpoints=(replace(DEPTH, target=target),))


def updated(stored: JobDefinition, wanted: JobDefinition) -> tuple[FieldChange, ...]:
    """Of the one thing that changes."""
    changes = difference([stored], [wanted], prune=False)
    [change] = [each for each in changes if each.kind is ChangeKind.UPDATE]
    assert all(field_changes(each) == () for each in changes if each is not change)
    return field_changes(change)


def test_what_is_new_has_all_its_fields() -> None:
    job, endpoint = difference([], [SHOP], prune=False)
    assert field_changes(job) == (FieldChange("description", None, "Watch."),)
    assert field_changes(endpoint) == (
        FieldChange("every", None, "1m"),
        FieldChange("url", None, "https://example.com/"),
        FieldChange("headers.X-A", None, "1"),
    )


def test_an_update_shows_each_changed_field_before_and_after() -> None:
    target = HttpTarget("https://example.com/new", headers={"X-B": "2"})
    daily = EndpointDefinition("depth", CronLine("@daily"), target)
    assert updated(SHOP, replace(SHOP, endpoints=(daily,))) == (
        FieldChange("every", "1m", None),
        FieldChange("url", "https://example.com/", "https://example.com/new"),
        FieldChange("headers.X-A", "1", None),
        FieldChange("cron", None, "@daily"),
        FieldChange("headers.X-B", None, "2"),
    )


def test_a_description_belongs_to_the_job() -> None:
    fields = updated(SHOP, replace(SHOP, description=""))
    assert fields == (FieldChange("description", "Watch.", None),)


def test_a_url_becomes_a_command() -> None:
    fields = updated(SHOP, with_target(ShellTarget(("ls", "-l"))))
    assert {each.field: each.after for each in fields} == {
        "url": None,
        "headers.X-A": None,
        "command": ["ls", "-l"],
    }


def test_what_is_archived_has_no_fields() -> None:
    changes = difference([SHOP], [], prune=True)
    assert [field_changes(change) for change in changes] == [(), ()]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(jobs(), endpoints())
def test_an_update_has_fields_and_what_is_unchanged_has_none(
    stored: JobDefinition, wanted: EndpointDefinition
) -> None:
    for before in (stored.endpoints[0] if stored.endpoints else wanted, wanted):
        after = with_secrets(replace(wanted, name=before.name), Secret("new"))
        present, file = (replace(stored, endpoints=(each,)) for each in (before, after))
        for change in difference([present], [file], prune=False):
            assert bool(field_changes(change)) is (change.kind is ChangeKind.UPDATE)


def with_secrets(endpoint: EndpointDefinition, secret: Secret) -> EndpointDefinition:
    target = endpoint.target
    if not isinstance(target, HttpTarget):
        return endpoint
    secrets = dict.fromkeys(target.secret_headers, secret)
    return replace(endpoint, target=replace(target, secret_headers=secrets))


# --- Secrets --------------------------------------------------------------------------------


def secured(value: str) -> JobDefinition:
    return with_target(replace(WEB, secret_headers={"Key": Secret(value)}))


def test_another_secret_is_a_change_that_shows_neither() -> None:
    fields = updated(secured(HUSH), secured("other-4712"))
    assert fields == (FieldChange("secret_headers.Key", "***", CHANGED_SECRET),)


def test_a_secret_comes_and_goes_under_its_mask() -> None:
    assert updated(SHOP, secured(HUSH)) == (FieldChange("secret_headers.Key", None, "***"),)
    assert updated(secured(HUSH), SHOP) == (FieldChange("secret_headers.Key", "***", None),)


# --- Rules ----------------------------------------------------------------------------------


def ruled(*rules: Rule) -> JobDefinition:
    return replace(SHOP, rules=rules)


def test_a_changed_rule_shows_its_name_and_the_parts_that_changed() -> None:
    deeper = replace(DEEP, when="response.depth > 400", ttl=timedelta(minutes=90))
    assert updated(ruled(DEEP, LATE), ruled(deeper, LATE)) == (
        FieldChange("rules.deep queue.when", "response.depth > 300", "response.depth > 400"),
        FieldChange("rules.deep queue.ttl", None, "1h30m"),
    )


def test_what_a_rule_does_is_one_part() -> None:
    paused = replace(DEEP, then=Then(RuleAction.PAUSE, MINUTE, endpoint="depth"))
    [field] = updated(ruled(DEEP), ruled(paused))
    before, after = {"interval": "1m"}, {"pause": "1m", "endpoint": "depth"}
    assert field == FieldChange("rules.deep queue.then", before, after)


def test_a_new_and_a_removed_rule_are_one_field_each() -> None:
    deep = {"when": "response.depth > 300", "then": {"interval": "1m"}}
    late = {"when": "health.is_late", "then": {"run_now": True}}
    assert updated(ruled(DEEP), ruled(LATE)) == (
        FieldChange("rules.deep queue", deep, None),
        FieldChange("rules.late", None, late),
    )
    [created, _] = difference([], [ruled(DEEP, LATE)], prune=False)
    assert [each.field for each in field_changes(created)] == [
        "description", "rules.deep queue", "rules.late",
    ]  # fmt: skip


def test_another_order_of_the_rules_is_told_by_their_names() -> None:
    order = FieldChange("rules", ["deep queue", "late"], ["late", "deep queue"])
    assert updated(ruled(DEEP, LATE), ruled(LATE, DEEP)) == (order,)


def test_a_rule_that_is_put_before_others_shows_the_order_too() -> None:
    fields = updated(ruled(DEEP), ruled(LATE, DEEP))
    assert [each.field for each in fields] == ["rules.late", "rules"]
    assert fields[1].after == ["late", "deep queue"]
