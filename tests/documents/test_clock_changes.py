"""The table of the two odd days is what the code does on them."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cadenza.adapters.cron.cronsim import CronsimCron
from tests.documents.commands import ROOT

PARIS = ZoneInfo("Europe/Paris")
ROW = re.compile(r"^\| `([^`|]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def runs_on(line: str, day: datetime) -> str:
    """By the clocks of Paris, with how far those are from UTC."""
    cron, end = CronsimCron(), day + timedelta(days=1)
    at, runs = day.astimezone(UTC) - timedelta(seconds=1), list[str]()
    while (at := cron.next_after(line, "Europe/Paris", at)) < end.astimezone(UTC):
        runs.append(f"{at.astimezone(PARIS):%H:%M%z}"[:8])
    return ", ".join(runs) or "not at all"


def test_the_table_of_clock_changes_is_computed() -> None:
    rows = ROW.findall((ROOT / "docs/how-to/daylight-saving.md").read_text())
    assert len(rows) >= 4
    march, october = (
        datetime(2026, month, day, tzinfo=PARIS) for month, day in ((3, 29), (10, 25))
    )
    for line, forward, back in rows:
        assert (line, runs_on(line, march), runs_on(line, october)) == (line, forward, back)
