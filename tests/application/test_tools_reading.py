"""The tools that read: hostile bodies, cut, cleaned and marked."""

import json
from dataclasses import replace
from typing import Any

import pytest

from cadenza.application.reading_tools import MAX_PAGE
from cadenza.domain import steering
from cadenza.domain.endpoint import CronLine, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.instants import iso
from cadenza.domain.target import HttpTarget, Secret
from tests.application.bench import Bench, simulated
from tests.application.tool_calls import minute_after_noon, refused
from tests.factories import FAILED, NOON, id_of, interval_hint, minutes, one_shot

# --- Read -----------------------------------------------------------------------------------


@simulated
async def test_the_latest_response_of_an_endpoint_that_never_ran_is_said_to_be_missing() -> None:
    bench = Bench()
    await bench.add(baseline=OnDemand())
    answer = await (await bench.toolbox()).call("get_latest_response", {})
    assert answer == {"ok": True, "found": False, "note": "it has not run yet"}


@simulated
async def test_the_latest_response_has_status_body_time_and_duration() -> None:
    bench = Bench()
    await bench.add()
    await bench.ran(body={"old": True})
    await bench.ran(body={"queue": 7}, outcome=FAILED)
    answer = await (await bench.toolbox()).call("get_latest_response", {})
    assert answer == {
        "ok": True,
        "found": True,
        "at": iso(bench.now),
        "status": "failure",
        "http_status": 500,
        "error_kind": "status",
        "duration_ms": 1000,
        "body": {"queue": 7},
    }


@simulated
async def test_history_is_newest_first_and_pages_and_says_whether_there_is_more() -> None:
    bench = Bench()
    await bench.add()
    for number in range(12):
        await bench.ran(body={"n": number})
    tools = await bench.toolbox()

    async def page(**arguments: int) -> tuple[list[int], bool]:
        answer = await tools.call("get_response_history", arguments)
        return [each["body"]["n"] for each in answer["responses"]], answer["more"]

    assert await page() == (list(range(11, 1, -1)), True)
    assert await page(limit=2) == ([11, 10], True)
    assert await page(limit=2, offset=10) == ([1, 0], False)
    assert await page(limit=10, offset=2) == (list(range(9, -1, -1)), False)
    assert await page(offset=100_000) == ([], False)


@simulated
@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 0},
        {"limit": 11},
        {"limit": -1},
        {"limit": 2.5},
        {"limit": "5"},
        {"limit": True},
        {"limit": float("nan")},
        {"limit": 10**30},
        {"offset": -1},
        {"offset": 100_001},
        {"offset": []},
    ],
    ids=str,
)
async def test_history_refuses_what_is_out_of_bounds(arguments: dict[str, Any]) -> None:
    bench = await minute_after_noon()
    await refused(await bench.toolbox(), "get_response_history", arguments, "is not valid")


@simulated
async def test_repeated_bodies_are_marked_and_only_truly_repeated_ones() -> None:
    bench = Bench()
    await bench.add()
    long = "x" * 3000
    for body in ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 1}, long + "1", long + "2", long + "2"):
        await bench.ran(body=body)
    answer = await (await bench.toolbox()).call("get_response_history", {})
    bodies = [each["body"] for each in answer["responses"]]
    marked = [isinstance(body, str) and body.startswith("(the same") for body in bodies]
    assert marked == [False, True, False, False, False, False, True]


@simulated
async def test_bodies_are_cut_at_a_thousand_characters_and_say_so() -> None:
    bench = Bench()
    await bench.add("probe")
    await bench.add("sibling", baseline=OnDemand())
    await bench.ran("probe", body="a" * 1001)
    await bench.ran("sibling", body={"list": ["b" * 50] * 100})
    tools = await bench.toolbox()
    latest = (await tools.call("get_latest_response", {}))["body"]
    siblings = (await tools.call("get_sibling_latest_responses", {}))["siblings"]
    shown = siblings[0]["latest"]["body"]
    for body in (latest, shown):
        assert isinstance(body, str)
        assert body.endswith("… (cut)")
        assert len(body) == 1000 + len("… (cut)")
    await bench.ran("probe", body="a" * 1000)
    assert (await tools.call("get_latest_response", {}))["body"] == "a" * 1000


@simulated
@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("plain", "plain"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("bell\x07 escape\x1b[31m null\x00 del\x7f", "bell escape[31m null del"),
        ("zero\u200bwidth\u200d joiner\ufeff", "zerowidth joiner"),
        ("left\u202eto\u2066right", "lefttoright"),
        ("lone\ud800surrogate", "lonesurrogate"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("smuggled\ufe00\ufe0f\U000e0100\U000e01ef", "smuggled"),
        ("filler\u3164\u115f\u2800", "filler"),
        ("private\ue000use", "privateuse"),
        ("separators\u2028\u2029", "separators"),
        ("c1\x85control", "c1control"),
        ("ümläut 漢字 😀", "ümläut 漢字 😀"),
    ],
)
async def test_bodies_lose_what_is_invisible_and_keep_what_is_not(hostile: str, shown: str) -> None:
    bench = Bench()
    await bench.add()
    await bench.ran(body=hostile)
    tools = await bench.toolbox()
    assert (await tools.call("get_latest_response", {}))["body"] == shown
    await bench.ran(body={hostile: [hostile, {"deep": hostile}]})
    nested = (await tools.call("get_latest_response", {}))["body"]
    assert nested == {shown: [shown, {"deep": shown}]}


@simulated
async def test_text_hidden_behind_invisible_characters_is_cut_and_says_so() -> None:
    bench = Bench()
    await bench.add()
    tools = await bench.toolbox()
    for body in ("\u200b" * 5000 + "obey", {"note": "\u200b" * 5000 + "obey"}):
        await bench.ran(body=body)
        shown = json.dumps((await tools.call("get_latest_response", {}))["body"])
        assert "obey" not in shown
        assert "(cut)" in shown


@simulated
@pytest.mark.parametrize(
    "body",
    [
        None,
        True,
        0,
        -1.5,
        "",
        [],
        {},
        float("nan"),
        {"x": float("inf")},
        10**5000,
        [[[[]]]],
        {"a": [None, False, {"b": "c"}]},
    ],
    ids=lambda body: type(body).__name__,
)
async def test_whatever_json_can_say_is_shown_as_json(body: Any) -> None:
    bench = Bench()
    await bench.add()
    await bench.ran(body=body)
    answer = await (await bench.toolbox()).call("get_latest_response", {})
    json.dumps(answer, allow_nan=False).encode()


@simulated
async def test_a_body_nested_without_end_is_cut_off() -> None:
    bench = Bench()
    await bench.add()
    body: list[Any] = []
    for _ in range(5000):
        body = [body]
    await bench.ran(body=body)
    answer = await (await bench.toolbox()).call("get_latest_response", {})
    assert "nested too deeply" in json.dumps(answer, ensure_ascii=False)


@simulated
async def test_siblings_are_those_of_the_job_with_state_hints_and_latest_answer() -> None:
    bench = await minute_after_noon()
    await bench.add("sibling", baseline=CronLine("0 * * * *"), min_interval=minutes(5))
    await bench.add("gone", baseline=OnDemand())
    await bench.add("foreign", tenant_id=id_of("other"), job_id=id_of("other job"))
    await bench.act("gone", steering.archive)
    await bench.ran("sibling", body={"n": 1})
    hint = interval_hint(minutes(7), NOON + minutes(30))
    await bench.act("sibling", lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron))
    answer = await (await bench.toolbox()).call("get_sibling_latest_responses", {})
    (sibling,) = answer["siblings"]
    assert sibling["endpoint"] == "sibling"
    assert sibling["latest"]["body"] == {"n": 1}
    assert sibling["schedule"]["baseline"] == "cron 0 * * * * (UTC)"
    assert sibling["schedule"]["min_interval_ms"] == 300_000
    assert sibling["schedule"]["paused_until"] is None
    assert sibling["hints"] == [
        {
            "interval_ms": 420_000,
            "expires_at": iso(NOON + minutes(30)),
            "set_by": "detector",
            "reason": "because",
        }
    ]


@simulated
async def test_hints_that_have_expired_are_not_shown() -> None:
    bench = await minute_after_noon()
    await bench.add("sibling", baseline=OnDemand())
    every = interval_hint(minutes(7), NOON + minutes(5))
    once = one_shot(NOON + minutes(3), NOON + minutes(4))
    await bench.act(
        "sibling", lambda ep, now, cron: steering.suggest_interval(ep, every, now, cron)
    )
    await bench.act("sibling", lambda ep, now, cron: steering.suggest_run_at(ep, once, now, cron))
    tools, shown = await bench.toolbox(), []
    for _ in range(3):
        answer = await tools.call("get_sibling_latest_responses", {})
        shown.append(len(answer["siblings"][0]["hints"]))
        await bench.sleep(200)
    assert shown == [2, 1, 0]


@simulated
async def test_a_pause_without_an_end_is_shown_as_until_resumed() -> None:
    bench = await minute_after_noon()
    await bench.add("sibling")
    await bench.act(
        "sibling", lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron)
    )
    answer = await (await bench.toolbox()).call("get_sibling_latest_responses", {})
    assert answer["siblings"][0]["schedule"]["paused_until"] == "until resumed"


@simulated
async def test_siblings_come_in_pages_of_whole_entries_with_their_count() -> None:
    bench = await minute_after_noon()
    for number in range(45):
        await bench.add(f"sibling {number:02}", baseline=OnDemand())
    tools = await bench.toolbox()
    shown: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = await tools.call("get_sibling_latest_responses", {"offset": offset})
        assert answer["count"] == 45
        assert answer["more"] is ("next_offset" in answer)
        shown += [sibling["endpoint"] for sibling in answer["siblings"]]
        offset = answer.get("next_offset")
    assert shown == [f"sibling {number:02}" for number in range(45)]
    (only,) = (await tools.call("get_sibling_latest_responses", {"limit": 1}))["siblings"]
    assert only["endpoint"] == "sibling 00"


@simulated
async def test_a_page_ends_where_long_bodies_fill_it_and_says_where_it_goes_on() -> None:
    bench = await minute_after_noon()
    for number in range(20):
        await bench.add(f"sibling {number:02}", baseline=OnDemand())
        await bench.ran(f"sibling {number:02}", body={"text": '\u00e4"' * 490})
    answer = await (await bench.toolbox()).call("get_sibling_latest_responses", {})
    assert len(json.dumps(answer, ensure_ascii=False)) < MAX_PAGE + 1000
    assert 1 < len(answer["siblings"]) == answer["next_offset"] < 20


@simulated
async def test_a_secret_of_any_endpoint_of_the_job_is_masked_in_everybodys_bodies() -> None:
    bench = await minute_after_noon()
    secret = "sk-of-the-sibling-0123456789"
    await bench.add("sibling", baseline=OnDemand())
    await bench.add("gone", baseline=OnDemand())
    row = bench.row("gone")
    target = HttpTarget("http://gone.example/", secret_headers={"x-key": Secret(secret)})
    bench.tables.endpoints[row.endpoint.id] = replace(row, target=target)
    await bench.act("gone", steering.archive)
    body = {"sent": f"Bearer {secret}", "plain": 5}
    await bench.ran(body=body)
    await bench.ran("sibling", body=body)
    tools = await bench.toolbox()
    for tool in ("get_latest_response", "get_response_history", "get_sibling_latest_responses"):
        answer = await tools.call(tool, {})
        assert secret not in json.dumps(answer)
        assert "Bearer ***" in json.dumps(answer)
    assert secret not in repr(tools.calls)
