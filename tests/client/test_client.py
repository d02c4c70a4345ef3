"""The API from Python: every operation, names for ids, pages, events, retries, one error tree."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest

import cadenza
from cadenza.client import errors, events
from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Retries
from cadenza.domain.errors import CadenzaError, InvalidInput, Refused
from tests.cli.support import Site
from tests.client.generate import FOLDER, generated

NEW_YEAR = "0 3 1 1 *"


def test_what_is_generated_is_fresh() -> None:
    for name, text in generated().items():
        fresh = (FOLDER / f"{name}.py").read_text()
        assert fresh == text, f"{name}.py: run python -m tests.client.generate"


def test_both_clients_have_the_same_methods() -> None:
    without, on_a_loop = (
        re.findall(
            r"^    (?:async )?def ([a-z]\w+)\(", (FOLDER / f"{kind}.py").read_text(), re.MULTILINE
        )
        for kind in ("sync_operations", "async_operations")
    )
    assert without == on_a_loop
    assert len(without) > 80


def shop(client: Any, site: Site) -> dict[str, Any]:
    client.create_job(name="shop", description="Watch the queue.")
    return client.create_endpoint("shop", name="queue", cron=NEW_YEAR, url=site.target)


def test_names_stand_where_ids_do(client: Any, site: Site) -> None:
    made = shop(client, site)
    for name in ("shop/queue", "queue", made["id"]):
        assert client.get_endpoint(name)["id"] == made["id"]
    assert client.get_job("shop")["name"] == "shop"
    assert client.hint_interval("shop/queue", interval="5m", ttl=timedelta(hours=2))["hints"]
    assert client.pause("shop/queue", reason="a test")["pauses"]
    assert client.explain_next_run("queue")["summary"]
    assert [one["name"] for one in client.list_endpoints(job="shop")] == ["queue"]


def test_a_name_that_nobody_or_somebody_else_has_too(client: Any, site: Site) -> None:
    shop(client, site)
    client.create_job(name="bakery")
    client.create_endpoint("bakery", name="queue", cron=NEW_YEAR, url=site.target)
    with pytest.raises(errors.NoSuchName, match="no endpoint 'till'"):
        client.get_endpoint("till")
    with pytest.raises(errors.NoSuchName, match="several endpoints are named 'queue'"):
        client.get_endpoint("queue")
    with pytest.raises(errors.NoSuchName, match="no job 'shpo'"):
        client.get_endpoint("shpo/queue")


def test_lists_are_followed_over_their_pages(client: Any) -> None:
    for number in range(5):
        client.create_job(name=f"job {number}")
    assert len(list(client.list_jobs())) == 5
    assert [job["name"] for job in client.list_jobs(limit=2)] == ["job 0", "job 1"]
    assert list(client.list_jobs(search="nothing")) == []


def test_a_patch_takes_a_field_away_and_knows_its_revision(client: Any, site: Site) -> None:
    made = shop(client, site)
    changed = client.change_endpoint("shop/queue", if_match=made["revision"], timeout="5s")
    assert changed["target"]["timeout_ms"] == 5000
    with pytest.raises(errors.Conflict) as caught:
        client.change_endpoint("shop/queue", if_match=made["revision"], timeout="6s")
    assert caught.value.status == 412


def test_every_problem_is_in_one_tree_with_its_fields_and_fixes(
    client: Any, connect: Any, site: Site
) -> None:
    with pytest.raises(errors.Invalid) as invalid:
        client.create_job(name="a/b")
    (field,) = invalid.value.fields
    assert (field.field, "no /" in field.fix) == ("name", True)
    assert invalid.value.request_id
    assert "name" in str(invalid.value)
    with pytest.raises(errors.Missing):
        client.get_job(str(uuid4()))
    with pytest.raises(errors.NotAllowed):
        connect(site.url, "cdz_wrong").me()
    client.create_job(name="twice")
    with pytest.raises(errors.Conflict):
        client.create_job(name="twice")
    assert issubclass(errors.ClientError, CadenzaError)


def test_the_same_key_creates_once(client: Any) -> None:
    first = client.create_job(name="once", idempotency_key="a-key")
    assert client.create_job(name="once", idempotency_key="a-key")["id"] == first["id"]


def test_events_come_as_they_happen(client: Any, site: Site) -> None:
    shop(client, site)
    with closing(client.events(job="shop")) as told:
        assert next(told).kind == "ready"
        client.run_now("shop/queue")
        event = next(event for event in told if event.kind == "run.finished")
    about = event.data["data"]
    assert (about["status"], about["endpoint_name"]) == ("success", "queue")
    assert event.id
    run = client.get_run(about["run_id"])
    assert [one["id"] for one in client.list_runs(endpoint="shop/queue")] == [run["id"]]


def test_events_that_are_no_longer_kept_are_an_error(client: Any) -> None:
    with pytest.raises(errors.ApiProblem), closing(client.events(last_id="1")) as told:
        next(told)


# --- When things go wrong -------------------------------------------------------------------


class Answers:
    """A server that gives these, one after the other: a status with headers, or a cut."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.keys: list[str | None] = []


@contextmanager
def answering(*answers: Any) -> Iterator[tuple[str, Answers]]:
    plan = Answers(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            plan.keys.append(self.headers.get("Idempotency-Key"))
            answer = plan.answers.pop(0)
            if answer is None:
                self.connection.close()
                return
            status, headers, *content = answer
            self.send_response(status)
            usual = b'{"title": "Busy", "detail": "later"}' if status >= 400 else b'{"name": "us"}'
            body = content[0] if content else usual
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """It is quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", plan
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SOON = Retries(pause=0.001)
OK = (200, {})


def test_what_may_be_repeated_is_tried_again(connect: Any) -> None:
    busy = (503, {"Retry-After": "0"})
    with answering(busy, (429, {}), OK) as (url, plan):
        assert connect(url, "key", retries=SOON).me() == {"name": "us"}
        assert not plan.answers
    with answering(busy, busy, OK) as (url, plan):
        connect(url, "key", retries=SOON).create_job(name="shop")
        assert len(set(plan.keys)) == 1
        assert plan.keys[0]


def test_what_may_not_be_repeated_is_not(connect: Any) -> None:
    with answering((503, {}), OK) as (url, plan):
        with pytest.raises(errors.Busy):
            connect(url, "key", retries=SOON).run_now(str(uuid4()))
        assert len(plan.answers) == 1


def test_it_is_given_up_in_the_end(connect: Any) -> None:
    with answering(*[(503, {"Retry-After": "0"})] * 4) as (url, plan):
        with pytest.raises(errors.Busy) as caught:
            connect(url, "key", retries=SOON).me()
        assert (caught.value.retry_after, plan.answers) == (0, [])


def test_events_go_on_when_a_server_is_back_behind_its_proxy(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "RETRY_SECONDS", 0.001)
    first = (200, {}, b"id: 1\nevent: ready\ndata: {}\n\n")
    second = (200, {}, b"id: 2\nevent: run.finished\ndata: {}\n\n")
    away = (502, {}, b"<html>Bad Gateway</html>")
    denied = (403, {})
    with answering(first, away, (503, {}), None, second, denied) as (url, plan):
        told = connect(url, "key", retries=SOON).events()
        assert [next(told).id, next(told).id] == ["1", "2"]
        assert plan.answers == [denied]
        with pytest.raises(errors.NotAllowed):
            next(told)
    with answering(away) as (url, _), pytest.raises(errors.NotCadenza):
        next(connect(url, "key", retries=SOON).events())


def test_no_server_and_no_redirect(connect: Any) -> None:
    with answering() as (url, _):
        pass
    with pytest.raises(errors.Unreachable):
        connect(url, "key", retries=SOON).me()
    away = (302, {"Location": "http://127.0.0.1:1/"})
    with answering(away) as (url, _), pytest.raises(errors.NotCadenza):
        connect(url, "key", retries=SOON).me()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "127.0.0.1:8080", "http://", "http://[x", "http://x?y",
        "http://ann:hunter2@x",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(connect: Any, url: str) -> None:
    with pytest.raises(InvalidInput) as error:
        connect(url, "key")
    assert "hunter2" not in str(error.value)


def test_what_cannot_be_sent_is_refused_with_its_field(client: Any) -> None:
    with pytest.raises(InvalidInput, match="Idempotency-Key"):
        client.create_job(name="shop", idempotency_key="a\r\nX-Evil: 1")
    with pytest.raises(InvalidInput, match="If-Match"):
        client.change_job(str(uuid4()), if_match='1"\r\nX-Evil: "', description="x")
    with (
        pytest.raises(InvalidInput, match="Last-Event-ID"),
        closing(client.events(last_id="1\n2")) as told,
    ):
        next(told)
    with pytest.raises(InvalidInput, match="statuss"):
        list(client.list_runs(statuss=["failure"]))  # it would list all of them
    with pytest.raises(InvalidInput, match="endpoint_id"):
        client.get_endpoint(None)
    with pytest.raises(errors.NoSuchName):
        client.get_job("\ud800")
    with pytest.raises(errors.ClientError):
        client.get_run("\ud800")


async def test_a_client_that_was_closed_says_so(site: Site, key: str) -> None:
    client = AsyncClient(site.url, key)
    async with client:
        assert (await client.me())["scopes"]
    with pytest.raises(Refused, match="the client is closed"):
        await client.me()


def test_a_key_cannot_smuggle_a_header(connect: Any) -> None:
    with pytest.raises(InvalidInput):
        connect("http://127.0.0.1:1", "cdz_x\r\nX-Evil: 1")


def test_the_server_is_the_one_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, site: Site, key: str, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CADENZA_API_URL", site.url)
    monkeypatch.setenv("CADENZA_API_KEY", key)
    assert cadenza.Client().me()["scopes"]
