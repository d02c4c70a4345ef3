"""One HTTP attempt: what is sent, what counts as success, and what is kept of the answer."""

import asyncio
import json
import socket
from datetime import timedelta
from importlib.metadata import version

import pytest

from cadenza.domain.errors import InstallationError
from cadenza.domain.run import RunStatus
from cadenza.domain.target import Secret
from tests.adapters.http.support import (
    ENDPOINT,
    Done,
    FakeSigner,
    Request,
    Talk,
    answering,
    both,
    calling,
    resolving,
    saying,
    serving,
)
from tests.factories import NOON, make_claim

OK = RunStatus.SUCCESS
FAILURE = RunStatus.FAILURE


# --- What is sent ---------------------------------------------------------------------------


async def test_a_request_carries_key_attempt_slot_and_signature() -> None:
    signature = {
        "webhook-id": "x",
        "webhook-timestamp": "1772452800",
        "webhook-signature": "v1,aaa v1,bbb",
    }
    signer = FakeSigner(signature)
    async with both(signer=signer) as (target, caller):
        outcome = await caller.call(
            target.url("/hook?a=1&b=%20"),
            method="POST",
            body='{"hello": "wörld"}',
            headers={"X-Own": "1"},
            secret_headers={"Authorization": Secret("Bearer hidden-token")},
        )
    [request] = target.requests
    claim = make_claim(ENDPOINT)
    assert outcome.status is OK
    assert (request.method, request.path) == ("POST", "/hook?a=1&b=%20")
    assert request.body == '{"hello": "wörld"}'.encode()
    assert request.headers == {
        "host": f"127.0.0.1:{target.port}",
        "user-agent": f"cadenza/{version('cadenza')}",
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
        "content-length": str(len(request.body)),
        "x-own": "1",
        "authorization": "Bearer hidden-token",
        "idempotency-key": claim.idempotency_key,
        "cadenza-attempt": "1",
        "cadenza-slot": "2026-03-02T12:00:00Z",
        **signature,
    }
    assert len(request.names) == len(set(request.names))
    assert signer.asked == [(claim.tenant_id, claim.idempotency_key, NOON, request.body)]


async def test_owners_may_set_their_own_agent_and_type_and_text_is_text() -> None:
    async with both() as (target, caller):
        own = {"user-agent": "mine/1", "CONTENT-TYPE": "text/csv", "accept": "text/plain"}
        await caller.call(target.url(), method="PUT", body="a,b", headers=own)
        await caller.call(target.url(), method="PATCH", body="plain")
        await caller.call(target.url(), method="DELETE")
    first, second, third = (request.headers for request in target.requests)
    assert (first["user-agent"], first["content-type"]) == ("mine/1", "text/csv")
    assert first["accept"] == "text/plain"
    assert second["content-type"] == "text/plain; charset=utf-8"
    assert "content-type" not in third


async def test_the_host_header_is_the_hosts_name_and_not_what_it_resolves_to() -> None:
    names = resolving({"api.example": ["127.0.0.1"]})
    async with both(look_up=names) as (target, caller):
        outcome = await caller.call(target.url("/x", host="API.example"))
        assert outcome.status is OK
        assert target.requests[0].headers["host"] == f"api.example:{target.port}"


async def test_an_ipv6_address_is_called_and_named_in_its_brackets() -> None:
    async with serving("::1") as target, calling() as caller:
        outcome = await caller.call(target.url("/x", host="[0:0:0:0:0:0:0:1]"))
    assert outcome.status is OK
    assert target.requests[0].headers["host"] == f"[::1]:{target.port}"


async def test_no_cookie_is_kept_and_no_proxy_is_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with both() as (target, caller):
        url = target.on("/c", answering("{}", Set_Cookie="a=b"))
        assert (await caller.call(url)).status is OK
        assert (await caller.call(url)).status is OK
    assert "cookie" not in target.requests[1].headers


async def test_a_request_that_cannot_be_signed_is_not_sent() -> None:
    signer = FakeSigner(error=InstallationError("the master key is gone"))
    async with both(signer=signer) as (target, caller):
        outcome = await caller.call(target.url())
    assert (outcome.status, outcome.error_kind) == (FAILURE, "signature")
    assert "master key" in (outcome.error_message or "")
    assert target.requests == []


@pytest.mark.parametrize(
    ("url", "fields"),
    [
        ("ftp://127.0.0.1/", {}),
        ("http://user:secret@127.0.0.1/", {}),
        ("http://", {}),
        ("not a url", {}),
        ("http://[::1", {}),
        ("http://127.0.0.1:99999/", {}),
        ("http://127.0.0.1:{port}/", {"headers": {"X-A": "a\r\nX-B: b"}}),
        ("http://127.0.0.1:{port}/", {"headers": {"X\nY": "a"}}),
        ("http://127.0.0.1:{port}/", {"method": "POST", "body": "\ud800"}),
    ],
)
async def test_what_the_door_should_have_refused_ends_as_an_outcome(
    url: str, fields: dict[str, object]
) -> None:
    async with both() as (target, caller):
        outcome = await caller.call(url.replace("{port}", str(target.port)), **fields)
    assert (outcome.status, outcome.error_kind) == (FAILURE, "invalid_target")
    assert "secret" not in (outcome.error_message or "")
    assert target.requests == []


# --- What counts as success -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "fields", "kind"),
    [
        ("200 OK", {}, None),
        ("299 Odd", {}, None),
        ("302 Found", {}, "status"),
        ("404 Not Found", {}, "status"),
        ("404 Not Found", {"success_statuses": (404, 200)}, None),
        ("200 OK", {"success_statuses": (201,)}, "status"),
        ("302 Found", {"success_statuses": (302,)}, None),
        ("500 Oops", {"success_when": "body.ok"}, "status"),
        ("200 OK", {"success_when": "body.ok && status == 200"}, None),
        ("200 OK", {"success_when": "body.count > 3"}, "assertion"),
        ("200 OK", {"success_when": "body.missing > 3"}, "assertion"),
        ("200 OK", {"success_when": "body.count"}, "assertion"),
        ("200 OK", {"success_when": "this is not CEL"}, "assertion"),
        ("503 Busy", {"success_statuses": (503,), "success_when": "status == 503"}, None),
    ],
)
async def test_success_is_what_the_owner_says_it_is(
    status: str, fields: dict[str, object], kind: str | None
) -> None:
    async with both() as (target, caller):
        url = target.on("/s", answering('{"ok": true, "count": 3}', status))
        outcome = await caller.call(url, **fields)
    assert outcome.error_kind == kind
    assert outcome.status is (FAILURE if kind else OK)
    assert outcome.status_code == int(status[:3])
    if kind == "status":
        assert outcome.error_message == f"HTTP {status[:3]}"


async def test_a_failed_assertion_tells_why() -> None:
    async with both() as (target, caller):
        untrue = await caller.call(target.url(), success_when="body.ok == false")
        broken = await caller.call(target.url(), success_when="body.missing == 1")
    assert "body.ok == false" in (untrue.error_message or "")
    assert "missing" in (broken.error_message or "")
    assert untrue.body == {"ok": True}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("0", None),
        ("-5", None),
        ("99999999999999999999", 86400),
        ("Mon, 02 Mar 2026 12:00:30 GMT", 30),
        ("Mon, 02 Mar 2026 11:00:00 GMT", None),
        ("soon", None),
    ],
)
async def test_retry_after_becomes_a_wait(value: str, expected: int | None) -> None:
    async with both() as (target, caller):
        outcome = await caller.call(
            target.on("/r", answering("", "503 Busy", Retry_After=value)),
        )
    assert outcome.retry_after == (None if expected is None else timedelta(seconds=expected))


# --- Secrets --------------------------------------------------------------------------------


async def test_a_secret_that_the_target_sends_back_is_masked() -> None:
    secret = Secret("Bearer correct-horse-battery")

    async def echo(talk: Talk, request: Request) -> None:
        token = request.headers["authorization"]
        await talk.answer(f'{{"you": "{token}", "n": [1, "{token}"]}}', "401 No")

    async with both() as (target, caller):
        url = target.on("/echo", echo)
        headers = {"Authorization": secret}
        outcome = await caller.call(url, secret_headers=headers)
        asserted = await caller.call(
            url,
            secret_headers=headers,
            success_statuses=(401,),
            success_when="body.you == 'Bearer correct-horse-battery' && body.nothing",
        )
    assert target.requests[0].headers["authorization"] == secret.value
    assert outcome.body == {"you": "***", "n": [1, "***"]}
    for ended in (outcome, asserted):
        assert "horse" not in str(ended)
    assert asserted.error_kind == "assertion"


async def test_a_plain_header_that_is_named_like_a_credential_is_masked_like_a_secret() -> None:
    async def echo(talk: Talk, request: Request) -> None:
        names = ("x-api-key", "authorization", "x-region")
        await talk.answer(json.dumps([request.headers[name] for name in names]))

    async with both() as (target, caller):
        url = target.on("/echo", echo)
        headers = {"X-Api-Key": "k-123456", "Authorization": "Bearer battery", "X-Region": "north"}
        outcome = await caller.call(url, headers=headers)
        when = "body[0] == 'k-123456' && body.nothing"
        asserted = await caller.call(url, headers=headers, success_when=when)
    assert outcome.body == ["***", "***", "north"]
    assert "123456" not in str(asserted)


# --- Redirects ------------------------------------------------------------------------------


async def test_no_redirect_is_followed_unless_asked_for() -> None:
    async with both() as (target, caller):
        target.on("/a", answering("moved", "302 Found", Location="/b"))
        outcome = await caller.call(target.url("/a"))
    assert (outcome.error_kind, outcome.status_code, outcome.body) == ("status", 302, "moved")
    assert len(target.requests) == 1


async def test_redirects_are_followed_as_often_as_was_asked() -> None:
    async with both() as (target, caller):
        target.on("/a", answering("", "301 Moved", Location="/b?x=1#part"))
        target.on("/b", answering("", "307 Moved", Location=target.url("/c")))
        target.on("/c", answering('"there"'))
        far = await caller.call(target.url("/a"), max_redirects=2)
        short = await caller.call(target.url("/a"), max_redirects=1)
        target.on("/loop", answering("", "302 Found", Location="/loop"))
        loop = await caller.call(target.url("/loop"), max_redirects=10)
    assert (far.status, far.body) == (OK, "there")
    assert (short.error_kind, short.status_code) == ("status", 307)
    assert (loop.error_kind, loop.status_code) == ("status", 302)
    paths = [request.path for request in target.requests]
    assert paths == ["/a", "/b?x=1", "/c", "/a", "/b?x=1", *["/loop"] * 11]


async def test_a_redirect_to_another_host_takes_no_secret_along() -> None:
    signer = FakeSigner({"webhook-id": "1", "webhook-signature": "v1,x", "webhook-timestamp": "2"})
    names = resolving({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
    async with both(signer=signer, look_up=names) as (target, caller):
        target.on("/a", answering("", "307 Go", Location=target.url("/b", host="b.example")))
        target.on("/same", answering("", "307 Go", Location="/b"))
        fields = {
            "method": "POST",
            "body": "{}",
            "max_redirects": 1,
            "headers": {"X-Plain": "1", "Cookie": "c=1"},
            "secret_headers": {
                "X-Key": Secret("hidden-value"),
                "authorization": Secret("Bearer t"),
            },
        }
        await caller.call(target.url("/a", host="a.example"), **fields)
        await caller.call(target.url("/same", host="a.example"), **fields)
    there, elsewhere, same, headers = target.requests
    assert there.headers["x-key"] == same.headers["x-key"] == headers.headers["x-key"]
    for secret in ("x-key", "authorization", "cookie", "webhook-signature", "webhook-id"):
        assert secret in headers.headers
        assert secret not in elsewhere.headers
    assert elsewhere.headers["host"].startswith("b.example")
    assert elsewhere.headers["x-plain"] == "1"
    assert elsewhere.headers["idempotency-key"] == there.headers["idempotency-key"]
    assert (elsewhere.method, elsewhere.body) == ("POST", b"{}")


@pytest.mark.parametrize(
    ("method", "status", "after"),
    [
        ("POST", "301 Moved", "GET"),
        ("POST", "302 Found", "GET"),
        ("POST", "303 See", "GET"),
        ("PUT", "303 See", "GET"),
        ("PUT", "302 Found", "PUT"),
        ("POST", "307 Go", "POST"),
        ("POST", "308 Go", "POST"),
        ("HEAD", "303 See", "HEAD"),
    ],
)
async def test_a_redirect_changes_the_method_as_browsers_do(
    method: str, status: str, after: str
) -> None:
    async with both(signer=FakeSigner({"webhook-id": "1"})) as (target, caller):
        target.on("/a", answering("", status, Location="/b"))
        body = None if method == "HEAD" else "text"
        await caller.call(target.url("/a"), method=method, body=body, max_redirects=3)
    request = target.requests[1]
    assert request.method == after
    assert request.body == (b"text" if after in ("POST", "PUT") else b"")
    if after != method:
        assert not {"content-type", "webhook-id"} & set(request.headers)


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd", "ftp://127.0.0.1/", "javascript:alert(1)", "gopher://x/",
        "https://user:pw@127.0.0.1/", "http://[::1", "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/", "x" * 5000, "data:,x", "http://u@[]@",
    ],
)  # fmt: skip
async def test_a_redirect_that_cannot_be_followed_is_an_outcome(location: str) -> None:
    async with both() as (target, caller):
        target.on("/a", answering("", "302 Found", Location=location))
        outcome = await caller.call(target.url("/a"), max_redirects=5)
    assert outcome.status is FAILURE
    assert outcome.error_kind in ("protocol", "blocked_address")
    assert "pw" not in (outcome.error_message or "")
    assert len(target.requests) == 1


# --- The guard ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.2:{port}/inner", "http://127.2:{port}/", "http://0x7f000002:{port}/",
        "http://[::1]:{port}/", "http://[::ffff:127.0.0.1]:{port}/", "//127.0.0.2:{port}/",
        "http://169.254.169.254/latest/meta-data/", "http://inner.example:{port}/",
        "http://10.0.0.1/", "http://localhost.:25/",
    ],
)  # fmt: skip
async def test_every_hop_of_a_redirect_is_judged(location: str) -> None:
    names = resolving({"inner.example": ["127.0.0.2"], "localhost": ["127.0.0.3"]})
    async with (
        serving() as target,
        serving("127.0.0.2") as inner,
        calling(allowed="127.0.0.1", look_up=names) as caller,
    ):
        where = location.format(port=inner.port)
        target.on("/x", answering("hint", "302 Found", Location=where))
        target.on("/xx", answering("", "302 Found", Location="/x"))
        target.on("/xxx", answering("", "302 Found", Location="/xx"))
        for path in ("/x", "/xxx"):
            outcome = await caller.call(target.url(path), max_redirects=10)
            assert (outcome.status, outcome.error_kind) == (FAILURE, "blocked_address")
            assert (outcome.status_code, outcome.body) == (None, None)
            assert not any(char.isdigit() for char in outcome.error_message or "")
    assert inner.connections == 0


async def test_refusals_are_all_alike() -> None:
    names = resolving({"inner.example": ["10.1.2.3"], "mixed.example": ["8.8.8.8", "10.1.2.3"]})
    outcomes = set()
    async with calling(allowed="", look_up=names, closed_ports=frozenset((25,))) as caller:
        for url in (
            "http://127.0.0.1/", "http://localhost/", "http://0x7f.1/", "http://inner.example/",
            "https://mixed.example/", "http://[::1]/", "http://169.254.169.254/",
            "http://8.8.8.8:25/", "http://db/", "https://10.0.0.1:8443/x?y",
        ):  # fmt: skip
            outcome = await caller.call(url)
            outcomes.add((outcome.status, outcome.error_kind, outcome.error_message, outcome.body))
    assert len(outcomes) == 1
    assert outcomes.pop()[:2] == (FAILURE, "blocked_address")


async def test_a_name_that_changes_after_it_was_judged_is_not_looked_up_again() -> None:
    """DNS rebinding: the first answer is good, every later one is the inner network."""
    answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]]
    asked: list[str] = []

    async def rebinding(name: str) -> list[str]:
        asked.append(name)
        return answers[len(asked) - 1]

    async with (
        serving() as target,
        serving("127.0.0.2") as inner,
        calling(allowed="127.0.0.1", look_up=rebinding) as caller,
    ):
        for _ in range(5):
            outcome = await caller.call(target.url(host="rebind.example"))
            assert outcome.status is OK
    assert asked == ["rebind.example"]
    assert inner.connections == 0


async def test_of_several_addresses_the_refused_ones_are_never_connected_to() -> None:
    names = resolving({"some.example": ["127.0.0.2", "127.0.0.1", "::1"]})
    async with (
        serving() as target,
        serving("127.0.0.2") as inner,
        calling(allowed="127.0.0.1", look_up=names) as caller,
    ):
        assert (await caller.call(target.url(host="some.example"))).status is OK
    assert (target.connections, inner.connections) == (1, 0)


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    names = resolving({"some.example": ["127.0.0.9", "127.0.0.1"]})
    async with both(look_up=names) as (target, caller):
        assert (await caller.call(target.url(host="some.example"))).status is OK


# --- Connections ----------------------------------------------------------------------------


async def test_connections_are_kept_and_left_when_the_name_moves() -> None:
    where = {"moving.example": ["127.0.0.1"]}
    async with serving() as old, calling(look_up=resolving(where)) as caller:
        url = old.url(host="moving.example")
        for _ in range(3):
            assert (await caller.call(url)).status is OK
        assert old.connections == 1  # kept
        new = await asyncio.start_server(old.talk, "127.0.0.2", old.port)
        where["moving.example"] = ["127.0.0.2"]
        caller.dispatcher._guard._known.clear()  # half a minute later
        peers: list[str] = []

        async def tell(talk: Talk, _: Request) -> None:
            peers.append(talk.writer.get_extra_info("sockname")[0])
            await talk.answer()

        old.on("/", tell)
        assert (await caller.call(url)).status is OK
        new.close()
    assert peers == ["127.0.0.2"]
    assert old.connections == 2


async def test_names_do_not_share_connections_even_at_one_address() -> None:
    names = resolving({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
    async with both(look_up=names) as (target, caller):
        for host in ("a.example", "b.example", "a.example", "127.0.0.1"):
            assert (await caller.call(target.url(host=host))).status is OK
    assert target.connections == 3


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_kept_connection_that_was_closed_meanwhile_costs_no_run(method: str) -> None:
    async with both() as (target, caller):
        calls = 0

        async def closing_later(talk: Talk, _: Request) -> None:
            nonlocal calls
            calls += 1
            if calls == 2:
                raise Done  # the moment that it is used again
            await talk.answer("{}")

        url = target.on("/k", closing_later)
        outcomes = [await caller.call(url, method=method) for _ in range(2)]
    assert [outcome.status for outcome in outcomes] == [OK, OK]
    assert len({request.headers["idempotency-key"] for request in target.requests}) == 1


async def test_a_post_on_a_new_connection_is_sent_once() -> None:
    async with both() as (target, caller):
        outcome = await caller.call(target.on("/k", saying()), method="POST")
    assert (outcome.status, outcome.error_kind) == (FAILURE, "connection")
    assert len(target.requests) == 1


@pytest.mark.parametrize(
    ("url", "kind", "told"),
    [
        ("http://127.0.0.1:{free}/", "connect", "refused"),
        ("http://unknown.example/", "dns", "does not resolve"),
        ("https://127.0.0.1:{plain}/", "tls", "does not answer with TLS; is its address one of"),
    ],
)
async def test_trouble_on_the_way_is_one_of_a_few_kinds(url: str, kind: str, told: str) -> None:
    async def unknown(name: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        free = unused.getsockname()[1]
        async with (
            calling(look_up=unknown) as caller,
            await asyncio.start_server(speak_plainly, "127.0.0.1", 0) as server,
        ):
            plain = server.sockets[0].getsockname()[1]
            outcome = await caller.call(url.format(free=free, plain=plain))
    assert (outcome.status, outcome.error_kind) == (FAILURE, kind)
    assert told in (outcome.error_message or "")
    assert "127" not in (outcome.error_message or "")
    assert "at-7f" not in (outcome.error_message or "")


async def test_a_look_up_that_never_ends_is_a_timeout() -> None:
    async def never(name: str) -> list[str]:
        await asyncio.Event().wait()
        raise AssertionError

    async with calling(look_up=never) as caller:
        outcome = await caller.call("http://slow.example/", within=0.1)
    assert (outcome.status, outcome.error_kind) == (RunStatus.TIMEOUT, "timeout")
    assert outcome.error_message == "no complete answer within 0.1 s"


async def test_many_requests_at_once_are_all_answered() -> None:
    async with both() as (target, caller):
        async with asyncio.timeout(20):
            outcomes = await asyncio.gather(*(caller.call(target.url()) for _ in range(200)))
    assert all(outcome.status is OK for outcome in outcomes)


async def test_a_closed_dispatcher_answers_with_an_outcome() -> None:
    async with both() as (target, caller):
        await caller.dispatcher.close()
        outcome = await caller.call(target.url())
    assert outcome.status is FAILURE


async def test_a_cancelled_dispatch_is_cancelled() -> None:
    async with both() as (target, caller):
        asked = asyncio.Event()

        async def silent(talk: Talk, _: Request) -> None:
            asked.set()
            await talk.reader.read()

        task = asyncio.create_task(caller.call(target.on("/silent", silent)))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
