"""The client when things go wrong: told in one line, with what to do and a code for scripts."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from uuid import uuid4

import pytest

from cadenza.cli.client import Api
from cadenza.cli.context import Server
from cadenza.cli.errors import CommandError, ExitCode
from cadenza.cli.events import Stream

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
CUT = b""  # the connection ends without an answer


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[Api, list[str]]]:
    """A server that gives these answers, one to each connection, and keeps what it was asked."""
    asked: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in answers:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    asked.append(_request(connection))
                    connection.sendall(answer)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield _api(listening.getsockname()[1]), asked
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # wakes who still waits for a connection
    thread.join(5)


def _request(connection: socket.socket) -> str:
    """Whole: what is left unread would break the connection off."""
    with connection.makefile("rb") as reading:
        head = b"".join(iter(reading.readline, b"\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        return head + reading.read(int(length[1]) if length else 0).decode()


def _api(port: int, key: str | None = "cdz_key", timeout: float = 5) -> Api:
    return Api(Server(f"http://127.0.0.1:{port}", key, "--key"), uuid4, timeout)


def _problem(status: int, **more: object) -> bytes:
    body = json.dumps({"title": "No", "detail": "not so", **more}).encode()
    return f"HTTP/1.1 {status} X\r\nConnection: close\r\n\r\n".encode() + body


def _error(ask: Callable[[], object]) -> CommandError:
    with pytest.raises(CommandError) as caught:
        ask()
    return caught.value


def test_a_create_whose_connection_is_cut_is_told_again_under_the_same_key() -> None:
    with answering(CUT, OK + b'{"id": 1}') as (api, asked):
        assert api.create("/jobs", {"name": "shop"}) == {"id": 1}
    keys = [
        line
        for request in asked
        for line in request.splitlines()
        if line.lower().startswith("idempotency-key")
    ]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_an_act_whose_connection_is_cut_is_not_repeated() -> None:
    with answering(CUT, OK + b"{}") as (api, asked):
        error = _error(lambda: api.post("/endpoints/x/run"))
    assert error.exit_code is ExitCode.UNREACHABLE
    assert "the connection was closed" in str(error)
    assert len(asked) == 1


def test_a_create_that_is_cut_twice_is_given_up() -> None:
    with answering(CUT, CUT, OK) as (api, asked):
        assert _error(lambda: api.create("/jobs", {})).exit_code is ExitCode.UNREACHABLE
    assert len(asked) == 2


def test_no_server_says_how_to_start_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = _error(lambda: _api(port).get("/jobs"))
    assert error.exit_code is ExitCode.UNREACHABLE
    assert "nothing is listening there" in str(error)
    assert "`cadenza up`" in str(error)


def test_a_server_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        api = _api(silent.getsockname()[1], timeout=0.2)
        error = _error(lambda: api.get("/jobs"))
    assert "no answer in time" in str(error)


def test_no_key_says_where_one_comes_from() -> None:
    error = _error(lambda: _api(1, key=None).get("/jobs"))
    assert error.exit_code is ExitCode.NOT_ALLOWED
    assert "`cadenza up`" in str(error)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "127.0.0.1:8080", "http://", "http://[x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    error = _error(lambda: Api(Server(url, "k", "--key"), uuid4))
    assert error.exit_code is ExitCode.USAGE
    assert "http://127.0.0.1:8080" in str(error)


def test_a_key_cannot_smuggle_a_header() -> None:
    error = _error(lambda: _api(1, key="cdz_x\r\nX-Evil: 1").get("/jobs"))
    assert error.exit_code is ExitCode.USAGE
    assert "Evil" not in str(error)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ExitCode.REFUSED),
        (401, ExitCode.NOT_ALLOWED),
        (403, ExitCode.NOT_ALLOWED),
        (404, ExitCode.NOT_FOUND),
        (409, ExitCode.REFUSED),
        (422, ExitCode.REFUSED),
        (429, ExitCode.UNREACHABLE),
        (500, ExitCode.UNREACHABLE),
        (503, ExitCode.UNREACHABLE),
    ],
)
def test_every_problem_ends_with_its_code(status: int, code: ExitCode) -> None:
    with answering(_problem(status)) as (api, _):
        error = _error(lambda: api.get("/jobs"))
    assert error.exit_code is code
    assert "not so" in str(error)


def test_a_problem_names_every_field_with_its_fix() -> None:
    fields = [{"field": "every", "value": "'5x'", "fix": 'write "5m"'}]
    with answering(_problem(422, errors=fields)) as (api, _):
        error = _error(lambda: api.post("/x", {}))
    assert str(error) == "No:\n  every: '5x': write \"5m\""


def test_what_a_problem_says_reaches_no_terminal_raw() -> None:
    with answering(_problem(409, detail="\x1b]0;owned\x07")) as (api, _):
        assert "\x1b" not in str(_error(lambda: api.get("/jobs")))


@pytest.mark.parametrize("answer", [OK + b"<html>", b"HTTP/1.1 502 X\r\n\r\n<html>"])
def test_a_server_that_is_not_cadenza_is_recognised(answer: bytes) -> None:
    with answering(answer) as (api, _):
        error = _error(lambda: api.get("/jobs"))
    assert error.exit_code is ExitCode.UNREACHABLE
    assert "Check --server." in str(error)


def test_the_key_does_not_follow_a_redirect() -> None:
    with answering(OK + b"{}") as (elsewhere, asked):
        away = f"HTTP/1.1 302 X\r\nLocation: {elsewhere.server.url}/\r\n\r\n".encode()
        with answering(away) as (api, _):
            _error(lambda: api.get("/jobs"))
        assert asked == []
        elsewhere.get("/jobs")


def test_a_server_on_this_machine_is_asked_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with answering(OK + b"{}") as (api, _):
        assert api.get("/me") == {}


def test_pages_are_followed_up_to_the_limit_also_where_one_is_empty() -> None:
    pages = [
        {"items": [{"n": 1}, {"n": 2}], "next": "a"},
        {"items": [], "next": "b"},
        {"items": [{"n": 3}], "next": "c"},
    ]
    with answering(*(OK + json.dumps(page).encode() for page in pages)) as (api, asked):
        assert [run["n"] for run in api.pages("/runs", 3)] == [1, 2, 3]
    assert [request.split(" ")[1].partition("?")[2] for request in asked] == [
        "limit=3",
        "limit=1&cursor=a",
        "limit=1&cursor=b",
    ]


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def _event(number: int) -> bytes:
    return f'id: 7-{number}\nevent: run.finished\ndata: {{"n": {number}}}\n\n'.encode()


def test_a_stream_that_breaks_off_is_taken_up_where_it_was() -> None:
    first, second = STREAM + b": hello\n\n" + _event(1) + b"id: 7-9\nev", STREAM + _event(2)
    waits: list[float] = []
    with answering(first, second) as (api, asked):
        events = Stream(api, {}, waits.append, pytest.fail).events()
        assert [next(events).data["n"], next(events).data["n"]] == [1, 2]
    assert "Last-Event-ID" not in asked[0].title().replace("Id", "ID")
    assert "last-event-id: 7-1\r\n" in asked[1].lower()
    assert waits == [2.0]


def test_a_stream_whose_place_is_no_longer_kept_goes_on_from_now() -> None:
    notices: list[str] = []
    answers = (STREAM + _event(1), _problem(410), STREAM + _event(5))
    with answering(*answers) as (api, asked):
        events = Stream(api, {}, lambda _: None, notices.append).events()
        assert [next(events).data["n"], next(events).data["n"]] == [1, 5]
    assert "last-event-id" not in asked[2].lower()
    assert notices == ["Some events are no longer kept, and are left out here."]


def test_a_stream_ends_where_the_key_no_longer_opens_anything() -> None:
    with answering(STREAM + _event(1), _problem(401)) as (api, _):
        events = Stream(api, {}, lambda _: None, pytest.fail).events()
        next(events)
        assert _error(lambda: next(events)).exit_code is ExitCode.NOT_ALLOWED


def test_a_stream_that_never_began_is_an_error() -> None:
    with answering(STREAM) as (api, _):
        error = _error(lambda: next(Stream(api, {}, lambda _: None, pytest.fail).events()))
    assert error.exit_code is ExitCode.UNREACHABLE
