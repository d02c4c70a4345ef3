"""What is photographed: a small world, and the commands that a newcomer types in it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cadenza.domain.session import ToolCall
from tests.cli.support import Person
from tests.factories import minutes

JOB = """
version: 1
jobs:
  - name: platform
    description: Watch the queue of orders, the checkout, and all that belongs to them.
    rules:
      - name: deep queue
        endpoint: queue
        when: siblings["checkout-health"].ok == false
        then: {interval: 10s, endpoint: checkout-health}
"""
NEVER = ("--cron", "0 3 1 1 *", "--timezone", "Asia/Tokyo")
CLOSED = "http://127.0.0.1:9/nothing"
CRONTAB = """\
# Save the shop.
0 3 * * * /srv/backup.sh --all
@hourly certbot renew -q
"""


@dataclass(frozen=True, slots=True)
class Step:
    words: str
    typed: dict[str, str] = field(default_factory=dict[str, str])
    on_seen: dict[str, Callable[[], object]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict[str, str])


def furnish(person: Person, folder: Path) -> None:
    """Endpoints that fail, are paused, hinted and asked for; nothing runs by itself for hours."""
    (folder / "cadenza.yaml").write_text(JOB)
    (folder / "crontab").write_text(CRONTAB)
    assert person.cadenza("apply", "--yes").code == 0
    _create(person, "queue", person.site.target, *NEVER)
    _create(person, "checkout-health", person.site.target, *NEVER)
    _create(person, "nightly-report", person.site.target, *NEVER)
    _create(person, "by-hand", person.site.target, "--on-demand")
    _create(person, "broken", CLOSED, "--every", "12h")
    _create(person, "stubborn", CLOSED, "--every", "12h", "--backoff", "none")
    for name in ("broken", "by-hand"):
        person.cadenza("run", f"platform/{name}", "--wait")
    person.gets("hint", "interval", "platform/queue", "6h", "--for", "9h", "--reason", "a sale")
    person.gets("pause", "platform/nightly-report", "--reason", "maintenance")
    person.gets("people", "invite", "ada.lovelace@example.org", "--role", "operator")
    person.gets("webhooks", "create", "ci", "https://ci.example/1", "--kind", "run.failed")
    person.gets("accounts", "create", "main")
    endpoint = person.gets("endpoints", "show", "platform/queue")
    in_an_hour = person.site.wait_for(person.site.backend.now()) + minutes(60)
    arguments = {"interval_ms": 30_000, "ttl_minutes": 10, "reason": "The queue is deep."}
    call = ToolCall(
        "propose_interval", arguments, {"ok": True}, took_effect=True, holds_until=in_an_hour
    )
    person.add_session(
        endpoint, call, reasoning="The queue is deep, and it still grows: look more often."
    )


def _create(person: Person, name: str, url: str, *baseline: str) -> None:
    """One whose first run, if it has one by itself, is over."""
    person.gets("endpoints", "create", f"platform/{name}", "--url", url, *baseline)
    shown = ("endpoints", "show", f"platform/{name}")
    while "--every" in baseline and person.gets(*shown)["failure_count"] == 0:
        pass


def scenes(person: Person) -> dict[str, list[Step]]:
    """By the name of the file that each is kept in."""
    run_again = {"Following": lambda: person.gets("run", "platform/by-hand")}
    return {
        "lists": [
            Step("jobs list"),
            Step("endpoints list"),
            Step("runs list"),
            Step("sessions list"),
            Step("keys list"),
        ],
        "people": [
            Step("people list"),
            Step("people invitations"),
            Step("people give ada platform=king"),
            Step("audit list -n 3 --actor ada"),
        ],
        "being-told": [
            Step("incidents list"),
            Step("incidents show 12345678"),
            Step("notify channels list"),
            Step("notify routes list"),
            Step("webhooks list"),
            Step("webhooks deliveries"),
        ],
        "money": [
            Step("accounts list"),
            Step("accounts usage main"),
            Step("ledger verify"),
            Step("grants list"),
            Step("schedules list"),
            Step("quota"),
            Step("usage"),
        ],
        "mistaken": [
            Step("explain platform/quue"),
            Step("runs show 0000"),
            Step("endpoints create platform/x --url ftp://a --every 5m"),
            Step("pause platform/queue --until 2020-01-01"),
            Step("audit export --to no-such-folder/audit.csv"),
            Step("jobs list --server http://127.0.0.1:9"),
            Step("jobs list --key cdz_wrong"),
            Step("keys revoke first", {"[y/N]: ": "n"}),
        ],
        "wide": [Step("runs list -n 2 --wide")],
        "failing": [
            Step("endpoints show platform/broken"),
            Step("explain platform/broken"),
            Step("explain platform/stubborn"),
        ],
        "held-back": [
            Step("explain platform/nightly-report"),
            Step("preview platform/nightly-report -n 3"),
            Step("preview platform/queue -n 3"),
            Step("endpoints show platform/by-hand"),
        ],
        "status": [Step("status")],
        "doctor": [
            Step(
                "doctor",
                environment={"CADENZA_TICK_SECONDS": "60", "CADENZA_IN_FLIHGT": "5"},
            )
        ],
        "tail": [Step("tail --count 1 --endpoint platform/by-hand", on_seen=run_again)],
        "crontab": [Step("import crontab crontab --timezone UTC --job night")],
        "renamed": [Step("endpoints edit platform/checkout-health --name checkout")],
        "ended-and-undone": [
            Step("endpoints archive platform/queue --dry-run"),
            Step("endpoints archive platform/queue", {"[y/N]: ": "n"}),
            Step("endpoints archive platform/queue", {"[y/N]: ": "y"}),
            Step("endpoints restore platform/queue"),
            Step("jobs archive platform", {"[y/N]: ": "y"}),
            Step("jobs restore platform"),
            Step("endpoints delete platform/broken --dry-run"),
            Step("endpoints delete platform/broken", {"[y/N]: ": "y"}),
            Step("jobs delete platform", {"[y/N]: ": "y"}),
            Step("status"),
        ],
    }
