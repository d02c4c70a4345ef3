"""From what is stored to what is wanted: the changes that are written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.difference import Change, ChangeKind, difference
from cadenza.domain.endpoint import Every
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.target import HttpTarget, Secret, ShellTarget, keeping_secrets, masking_secrets
from tests.manifest.drawn import jobs

MINUTE = timedelta(minutes=1)
WEB = HttpTarget("https://example.com/", headers={"X-A": "1"})
DEPTH = EndpointDefinition("depth", Every(MINUTE), WEB)
SHOP = JobDefinition("shop", "Watch.", (DEPTH,))
HUSH = "hush-hush-4711"
KEPT = Secret("***")


def secured(value: str, header: str = "Key") -> HttpTarget:
    return replace(WEB, secret_headers={header: Secret(value)})


def with_target(target: HttpTarget) -> JobDefinition:
    return replace(SHOP, endpoints=(replace(DEPTH, target=target),))


def kinds(changes: Sequence[Change]) -> list[tuple[str, str, str | None]]:
    return [(change.kind.value, change.job, change.endpoint) for change in changes]


def test_what_is_new_is_created() -> None:
    own = replace(SHOP, endpoints=())
    assert difference([], [SHOP], prune=False) == (
        Change(ChangeKind.CREATE, "shop", None, None, own),
        Change(ChangeKind.CREATE, "shop", "depth", None, DEPTH),
    )


def test_a_change_of_a_job_leaves_its_endpoints_alone_and_the_other_way_round() -> None:
    described = difference([SHOP], [replace(SHOP, description="")], prune=False)
    assert kinds(described) == [("update", "shop", None), ("unchanged", "shop", "depth")]
    slower = replace(DEPTH, baseline=Every(2 * MINUTE))
    redefined = difference([SHOP], [replace(SHOP, endpoints=(slower,))], prune=False)
    assert kinds(redefined) == [("unchanged", "shop", None), ("update", "shop", "depth")]
    assert (redefined[1].before, redefined[1].after) == (DEPTH, slower)


def test_what_is_not_wanted_is_archived_only_when_asked() -> None:
    other = JobDefinition("other", "", (DEPTH,))
    wanted = replace(SHOP, endpoints=(replace(DEPTH, name="new"),))
    assert kinds(difference([SHOP, other], [wanted], prune=False)) == [
        ("unchanged", "shop", None),
        ("create", "shop", "new"),
    ]
    assert kinds(difference([SHOP, other], [wanted], prune=True)) == [
        ("unchanged", "shop", None),
        ("create", "shop", "new"),
        ("archive", "shop", "depth"),
        ("archive", "other", None),
        ("archive", "other", "depth"),
    ]


manifests = st.lists(jobs(), max_size=3, unique_by=lambda job: job.name)
SLOWLY_DRAWN = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)


@SLOWLY_DRAWN
@given(manifests, st.booleans())
def test_the_same_twice_changes_nothing(definitions: list[JobDefinition], prune: bool) -> None:
    changes = difference(definitions, definitions, prune=prune)
    assert {change.kind for change in changes} <= {ChangeKind.UNCHANGED}
    assert len(changes) == sum(1 + len(job.endpoints) for job in definitions)


def renamed(job: JobDefinition, name: str) -> JobDefinition:
    """By position, so that two manifests have names in common."""
    endpoints = [replace(each, name=f"e{index}") for index, each in enumerate(job.endpoints)]
    return replace(job, name=name, endpoints=tuple(endpoints))


overlapping = st.dictionaries(st.sampled_from("abc"), jobs(), max_size=2).map(
    lambda drawn: [renamed(job, name) for name, job in drawn.items()]
)


def masked(job: JobDefinition, *, secret: Secret = KEPT) -> JobDefinition:
    endpoints = tuple(_masked(endpoint, secret) for endpoint in job.endpoints)
    return replace(job, endpoints=endpoints)


def _masked(endpoint: EndpointDefinition, secret: Secret) -> EndpointDefinition:
    target = endpoint.target
    if not isinstance(target, HttpTarget):
        return endpoint
    secrets = dict.fromkeys(target.secret_headers, secret)
    return replace(endpoint, target=replace(target, secret_headers=secrets))


def with_accounts_named(job: JobDefinition) -> JobDefinition:
    """A graph that names neither grant nor account keeps the one it has: here all name theirs."""

    def named(endpoint: EndpointDefinition) -> EndpointDefinition:
        target = endpoint.target
        if not isinstance(target, GraphTarget) or target.grant_id or target.account:
            return endpoint
        return replace(endpoint, target=replace(target, account="main"))

    return replace(job, endpoints=tuple(map(named, job.endpoints)))


def written(stored: Sequence[JobDefinition], changes: Sequence[Change]) -> list[JobDefinition]:
    """What is stored after the changes were written, its secrets masked."""
    own = {job.name: replace(job, endpoints=()) for job in stored}
    endpoints = {(job.name, each.name): each for job in stored for each in job.endpoints}
    for change in changes:
        if isinstance(change.after, JobDefinition):
            own[change.job] = change.after
        elif isinstance(change.after, EndpointDefinition):
            endpoints[change.job, change.after.name] = change.after
        elif change.endpoint is None:
            del own[change.job]
        else:
            del endpoints[change.job, change.endpoint]
    return [
        masked(replace(job, endpoints=tuple(e for (of, _), e in endpoints.items() if of == name)))
        for name, job in own.items()
    ]


def by_name(definitions: Sequence[JobDefinition]) -> dict[str, JobDefinition]:
    """In one order: neither that of jobs nor that of endpoints is stored."""
    return {
        job.name: replace(masked(job), endpoints=tuple(sorted(job.endpoints, key=lambda e: e.name)))
        for job in map(masked, definitions)
    }


@SLOWLY_DRAWN
@given(overlapping, overlapping)
def test_with_pruning_exactly_what_is_wanted_is_there_afterwards(
    stored: list[JobDefinition], wanted: list[JobDefinition]
) -> None:
    wanted = [with_accounts_named(masked(job, secret=Secret("new"))) for job in wanted]
    changes = difference(stored, wanted, prune=True)
    assert by_name(written(stored, changes)) == by_name(wanted)


# --- Secrets --------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [HUSH, "***"])
def test_the_same_secret_and_a_kept_one_are_no_change(wanted: str) -> None:
    changes = difference([with_target(secured(HUSH))], [with_target(secured(wanted))], prune=False)
    assert {change.kind for change in changes} == {ChangeKind.UNCHANGED}


def test_another_secret_is_a_change_with_the_value_to_seal() -> None:
    stored, wanted = with_target(secured(HUSH)), with_target(secured("other-4712"))
    _, change = difference([stored], [wanted], prune=False)
    assert change.kind is ChangeKind.UPDATE
    assert change.before == replace(DEPTH, target=secured("***"))
    assert change.after == replace(DEPTH, target=secured("other-4712"))
    assert HUSH not in repr(change)
    assert "4712" not in repr(change)


def test_a_secret_that_stays_is_not_sealed_again_when_something_else_changes() -> None:
    for value in (HUSH, "***"):
        wanted = replace(secured(value), url="https://example.com/new")
        _, change = difference([with_target(secured(HUSH))], [with_target(wanted)], prune=False)
        assert change.kind is ChangeKind.UPDATE
        assert change.after == replace(
            DEPTH, target=replace(secured("***"), url="https://example.com/new")
        )


def test_a_stored_secret_that_does_not_open_can_be_kept_or_replaced() -> None:
    unreadable = secured("***")
    assert keeping_secrets(secured("***"), unreadable) == secured("***")
    assert keeping_secrets(secured("new"), unreadable) == secured("new")


def test_a_secret_is_taken_over_under_another_spelling_of_its_header() -> None:
    assert keeping_secrets(secured("***", "KEY"), secured(HUSH)) == secured(HUSH, "KEY")
    assert keeping_secrets(secured(HUSH, "KEY"), secured(HUSH)) == secured(HUSH, "KEY")
    with pytest.raises(InvalidInput, match="cannot be read"):
        keeping_secrets(secured("***", "KEY"), secured("***"))


@pytest.mark.parametrize("stored", [None, WEB, ShellTarget(("ls",))])
def test_nothing_can_be_kept_where_nothing_is_stored(
    stored: HttpTarget | ShellTarget | None,
) -> None:
    with pytest.raises(InvalidInput, match="there is no stored secret to keep") as raised:
        keeping_secrets(secured("***"), stored)
    assert raised.value.field == "secret_headers.Key"


def test_every_secret_that_cannot_be_kept_is_told_at_once_by_its_path() -> None:
    two = replace(WEB, secret_headers={"Key": KEPT, "Other": KEPT, "New": Secret("x")})
    wanted = JobDefinition("b", "", (DEPTH, replace(DEPTH, name="c", target=two)))
    with pytest.raises(InvalidFields) as raised:
        difference([SHOP], [with_target(secured("***")), wanted], prune=False)
    assert [error.field for error in raised.value.problems] == [
        "jobs[0].endpoints[0].secret_headers.Key",
        "jobs[1].endpoints[1].secret_headers.Key",
        "jobs[1].endpoints[1].secret_headers.Other",
    ]


def test_targets_without_secrets_stay_as_they_are() -> None:
    for target in (WEB, ShellTarget(("ls",))):
        assert keeping_secrets(target, secured(HUSH)) is target
        assert masking_secrets(target) is target
