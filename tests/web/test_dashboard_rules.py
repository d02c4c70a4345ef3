"""Rules of a job, written on the dashboard and tried on what was answered last."""

from typing import Any

import pytest

from cadenza.domain.run import Outcome, RunStatus
from tests.web.html_pages import Browser, signed_in
from tests.web.support import Site

ANSWER = Outcome(RunStatus.SUCCESS, status_code=200, body={"visitors": 5000})
BUSY = {
    "name": "busy",
    "endpoint": "traffic",
    "when": "response.visitors > 4000",
    "for": "2",
    "act": "interval",
    "value": "20s",
    "ttl": "20m",
    "reason": "many visitors",
}


async def _job(site: Site) -> tuple[Browser, str]:
    job = await site.ours.job("shop")
    traffic = await site.ours.endpoint(job, "traffic")
    await site.ours.endpoint(job, "stock", on_demand=True)
    await site.ours.done("POST", f"/endpoints/{traffic['id']}/run")
    assert await site.backend.run_due(ANSWER) >= 1
    return await signed_in(site, site.ours), f"/jobs/{job['id']}"


async def _rules(site: Site, path: str) -> list[dict[str, Any]]:
    return (await site.ours.done("GET", path))["rules"]


async def test_a_rule_is_written_changed_and_removed(site: Site) -> None:
    visitor, path = await _job(site)
    page = await visitor.send(await visitor.open(f"{path}/rules/new"), **BUSY)
    assert "Rule busy saved." in page.text
    (rule,) = await _rules(site, path)
    assert (rule["when"], rule["for"], rule["then"]) == (
        "response.visitors > 4000",
        2,
        {"interval": "20s"},
    )
    (edit,) = [
        link for link in page.links if link.startswith(f"{path}/rules/") and "new" not in link
    ]
    form = await visitor.open(edit)
    assert form.form().fields["value"] == "20s"
    page = await visitor.send(form, act="run_now", value="", target="stock")
    (rule,) = await _rules(site, path)
    assert rule["then"] == {"run_now": True, "endpoint": "stock"}
    await visitor.send(await visitor.open(edit), f"{edit}/remove")
    assert await _rules(site, path) == []


async def test_what_is_wrong_with_a_rule_is_told_at_its_field(site: Site) -> None:
    visitor, path = await _job(site)
    new = await visitor.open(f"{path}/rules/new")
    for wrong, words in (
        ({"when": "response.visitors >"}, "CEL"),
        ({"value": "soon"}, "5m"),
        ({"for": "many"}, "number"),
        ({"name": ""}, "Must not be empty"),
        ({"act": "dance"}, "no such field"),
    ):
        page = await visitor.send(new, **{**BUSY, **wrong})
        assert page.status == 422, wrong
        assert words in page.text, page.text
        assert page.form().fields["reason"] == "many visitors"
    assert await _rules(site, path) == []


async def test_somebody_elses_rules_are_not_overwritten(site: Site) -> None:
    visitor, path = await _job(site)
    form = await visitor.open(f"{path}/rules/new")
    await site.ours.done("PATCH", path, {"description": "newer"})
    page = await visitor.send(form, **BUSY)
    assert page.status == 422
    assert "saved a change" in page.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "true traffic"),
        ({"when": "response.visitors > 9000"}, "false traffic"),
        ({"when": "response.visitor > 9000"}, "visitors"),
        ({"when": "response.visitors >"}, "when"),
        ({"endpoint": "nobody"}, "which is no endpoint of the job"),
        ({"when": ""}, "as you type"),
    ],
)
async def test_a_rule_is_tried_while_one_types(
    site: Site, fields: dict[str, str], words: str
) -> None:
    visitor, path = await _job(site)
    form = (await visitor.open(f"{path}/rules/new")).form()
    part = await visitor.post(f"{path}/rules-preview", {**form.fields, **BUSY, **fields})
    assert part.status == 200
    assert words in part.text, part.text
    assert await _rules(site, path) == []
