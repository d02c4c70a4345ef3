"""`analyse` over a limit, an account for the planner, and the quota of a job."""

from pathlib import Path

from tests.cli.support import Person

SHOP = """
version: 1
jobs:
- name: shop
  planner: {tokens_per_day: 10000}
  endpoints:
  - {name: queue, url: 'https://shop.example/queue', every: 1h}
"""


def test_analyse_over_a_limit_says_so_and_ends_with_an_error(
    person: Person, tmp_path: Path
) -> None:
    file = tmp_path / "cadenza.yaml"
    file.write_text(SHOP)
    applied = person.cadenza("apply", "-f", file, "--yes")
    assert applied.code == 0, applied.err
    done = person.cadenza("analyse", "queue")
    assert done.code != 0
    assert "tokens_per_day of the job is reached" in done.err
    assert "a session may take 50,000" in done.err
    assert person.gets("quota", "--job", "shop")["used"] == 0


def test_an_account_pays_for_the_planner_until_it_does_not(person: Person) -> None:
    person.cadenza("accounts", "create", "research")
    assert "research pays" in person.says("accounts", "for-planner", "research")
    person.queue()
    done = person.cadenza("analyse", "queue")
    assert done.code != 0
    assert "0 credits" in done.err
    assert "installation pays" in person.says("accounts", "for-planner", "none")
    assert person.cadenza("analyse", "queue").code == 0
    assert person.cadenza("accounts", "for-planner", "nobody").code != 0


def test_an_account_that_nobody_has_is_refused_by_command_and_by_file(
    person: Person, tmp_path: Path
) -> None:
    done = person.cadenza("jobs", "create", "shop", "--planner", "account=research")
    assert done.code != 0
    assert "planner.account" in done.err
    assert "research" in done.err
    assert "cadenza accounts create" in done.err
    file = tmp_path / "cadenza.yaml"
    file.write_text(SHOP.replace("tokens_per_day: 10000", "account: research"))
    done = person.cadenza("apply", "-f", file, "--yes")
    assert done.code != 0
    assert "shop.planner.account: 'research'" in done.err
    person.cadenza("accounts", "create", "research")
    assert person.cadenza("apply", "-f", file, "--yes").code == 0
