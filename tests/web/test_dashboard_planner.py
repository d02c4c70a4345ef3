"""What each job's day has cost is told beside what it may cost."""

import re
from uuid import UUID

from cadenza.application.ports.planning import Reservation
from cadenza.domain.endpoint import Job
from cadenza.web.dashboard.pages.planner import JOBS
from tests.web.html_pages import Seen, signed_in
from tests.web.support import House, Site


async def _spend(site: Site, house: House, job_id: str, tokens: int, cost: float) -> None:
    quotas = site.backend.quotas()
    reservation = await quotas.reserve(Job(UUID(job_id), house.tenant_id, "job"), tokens, cost)
    assert isinstance(reservation, Reservation)
    await quotas.settle(reservation, tokens, cost)


def _row(page: Seen, job_id: str) -> str:
    row = page.html.partition(f'id="today-{job_id}"')[2].partition("</tr>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", row).partition(">")[2].split())


async def test_what_each_job_used_today_is_beside_its_limits_and_modes(site: Site) -> None:
    policy = {"tokens_per_day": 20_000, "money_per_day": 0.5, "llm": "act", "rules": "off"}
    own = await site.ours.job("own", planner=policy)
    usual = await site.ours.job("usual")
    free = await site.ours.job("free", planner={"tokens_per_day": 0, "money_per_day": 0})
    await _spend(site, site.ours, own["id"], 1500, 0.25)
    await _spend(site, site.theirs, (await site.theirs.job("other"))["id"], 7777, 1)
    page = await (await signed_in(site, site.ours)).open("/planner")
    assert _row(page, own["id"]) == "own off act act 1,500 of 20,000 $0.25 of $0.50 0 of 0"
    assert _row(page, usual["id"]).endswith("0 of 500,000 $0.00 of $2.00 0 of 0")
    assert _row(page, free["id"]).endswith("0 no limit $0.00 no limit 0 of 0")
    assert "7,777" not in page.text


async def test_more_jobs_than_fit_are_on_pages_of_their_own(site: Site) -> None:
    jobs = [await site.ours.job(f"job-{number:02}") for number in range(JOBS + 1)]
    visitor = await signed_in(site, site.ours)
    first = await visitor.open("/planner?range=1h")
    assert _row(first, jobs[-1]["id"]) == ""
    (following,) = {link for link in first.links if "jobs=" in link}
    second = await visitor.open(following)
    assert "range=1h" in following
    assert _row(second, jobs[-1]["id"]).startswith("job-10")
    assert _row(second, jobs[0]["id"]) == ""


async def test_a_tenant_without_jobs_has_no_day_by_job(site: Site) -> None:
    visitor = await signed_in(site, site.ours)
    assert "Today by job" not in (await visitor.open("/planner")).text
    assert (await visitor.open("/planner?jobs=nonsense")).status == 422
