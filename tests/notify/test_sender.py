"""Messages through apprise: to a real mail server and a real webhook, under the guard."""

import asyncio
import os
import sys
from contextlib import suppress
from datetime import timedelta
from email import message_from_string, policy
from pathlib import Path

import pytest

from cadenza.adapters.notify.sender import AppriseSender, without_secrets
from cadenza.domain.errors import InvalidInput
from cadenza.domain.incident import Severity
from cadenza.domain.message import Message
from cadenza.domain.target import Secret
from tests.notify.sinks import hook_sink, mail_sink

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-I", "-m", "cadenza.roots.apprise_child"]
MESSAGE = Message("Cadenza: shop/checkout fails", "HTTP 503\nsince noon", Severity.ERROR)


def _sender(networks: str = "loopback", **options: object) -> AppriseSender:
    guard = {"networks": networks, "ports": ""}
    ours = os.environ  # noqa: TID251
    return AppriseSender(COMMAND, guard, ours, **options)  # type: ignore[arg-type]


async def test_a_mail_arrives_with_its_title_as_subject() -> None:
    async with mail_sink() as box:
        url = Secret(f"mailto://127.0.0.1:{box.port}/?from=a@example.com&to=b@example.com")
        attempt = await _sender().send(url, MESSAGE)
        assert attempt.error is None
        (text,) = box.mails
    mail = message_from_string(text, policy=policy.default)
    assert mail["Subject"] == MESSAGE.title
    assert "HTTP 503" in text


async def test_a_name_cannot_add_headers_to_a_mail() -> None:
    async with mail_sink() as box:
        url = Secret(f"mailto://127.0.0.1:{box.port}/?from=a@example.com&to=b@example.com")
        evil = Message("Cadenza: x\r\nBcc: evil@example.com\r\n\r\nhello", "body", Severity.INFO)
        await _sender().send(url, evil)
        mails = list(box.mails)
    for text in mails:
        assert message_from_string(text, policy=policy.default)["Bcc"] is None


async def test_a_plain_webhook_is_posted_and_a_refusal_is_told_without_what_is_secret() -> None:
    async with hook_sink() as hook:
        port = hook.url.split(":")[2].split("/")[0]
        url = Secret(f"json://127.0.0.1:{port}/s3cret-path")
        assert (await _sender().send(url, MESSAGE)).error is None
        assert "shop/checkout" in hook.came[0][1]
        named = Secret(f"json://localhost:{port}/")
        assert (await _sender().send(named, MESSAGE)).error is None
        hook.status = 500
        attempt = await _sender().send(url, MESSAGE)
    assert attempt.error is not None
    assert "s3cret" not in attempt.error
    assert "127.0.0.1" not in attempt.error


async def test_nothing_is_sent_where_the_guard_does_not_allow_it() -> None:
    async with hook_sink() as hook:
        port = hook.url.split(":")[2].split("/")[0]
        for host in ("127.0.0.1", "localhost", "[::1]", "127.1", "2130706433"):
            attempt = await _sender("").send(Secret(f"json://{host}:{port}/"), MESSAGE)
            assert attempt.error is not None
        assert hook.came == []
        attempt = await _sender("").send(Secret(f"json://127.0.0.1:{port}/"), MESSAGE)
        assert "not one that may be called" in str(attempt.error)


async def test_one_that_hangs_is_ended_and_leaves_no_process() -> None:
    async with hook_sink(is_open=False) as hook:
        port = hook.url.split(":")[2].split("/")[0]
        sender = _sender(deadline=timedelta(seconds=3))
        url = Secret(f"json://127.0.0.1:{port}/?rto=60&cto=60")
        sending = asyncio.create_task(sender.send(url, MESSAGE))
        await hook.until(1)
        attempt = await sending
        assert attempt.error is not None
        assert "within 3 s" in attempt.error


@pytest.mark.parametrize(
    "url",
    [
        "syslog://",
        "dbus://",
        "gnome://",
        "gio://",
        "windows://",
        "python://x",
        "fcm://project@key/device?keyfile=/etc/passwd",
        "fcm://project@key/device?key%66ile=/etc/passwd",
        "workflows://host/workflow/signature?template=/etc/passwd",
        "mailto://a:b@example.com?pgp=yes&PGPpub=/etc/passwd",
        "not a url",
        "nothing://known",
    ],
)
async def test_what_acts_on_this_machine_or_is_unknown_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await _sender().check(Secret(url))
    assert refused.value.field == "url"


@pytest.mark.parametrize(
    ("url", "word"),
    [("syslog://", "syslog://"), ("fcm://project@key/device?keyfile=/etc/passwd", "keyfile")],
)
async def test_a_refusal_names_what_is_refused_and_nothing_else_of_the_url(
    url: str, word: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await _sender().check(Secret(url))
    assert word in str(refused.value)
    assert "passwd" not in str(refused.value)
    assert "project" not in str(refused.value)


async def test_an_answer_without_end_takes_no_more_than_its_share_of_memory() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b"x" * 2**20)
                await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        attempt = await _sender().send(Secret(f"json://127.0.0.1:{port}/"), MESSAGE)
    assert attempt.error is not None
    assert "within" not in attempt.error  # it was not the deadline that ended it


async def test_a_url_is_checked_and_shown_without_what_is_secret() -> None:
    slack = Secret("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#alerts")
    checked = await _sender().check(slack)
    assert checked.service == "Slack"
    assert "TIiajkdnlazkcOXrIdevi7FQ" not in checked.masked_url
    plain = await _sender().check(Secret("json://user:pass@hooks.example/secret/path?+X-Key=abc"))
    assert plain.masked_url == "json://hooks.example/…"


async def test_the_child_reads_and_changes_no_file_and_starts_no_program(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("top secret")
    script = (
        "from cadenza.adapters.notify.guarding import hold_back\n"
        "import os, subprocess, socket, sqlite3, sys\n"
        "hold_back(lambda host, port: False)\n"
        "tries = [lambda: open(sys.argv[1]), lambda: open(sys.argv[1] + '2', 'w'),\n"
        "         lambda: os.remove(sys.argv[1]),\n"
        "         lambda: os.rename(sys.argv[1], sys.argv[1] + '2'),\n"
        "         lambda: os.mkdir(sys.argv[1] + '2'), lambda: os.chmod(sys.argv[1], 0o777),\n"
        "         lambda: os.symlink(sys.argv[1], sys.argv[1] + '2'),\n"
        "         lambda: sqlite3.connect(sys.argv[1] + '2'), lambda: subprocess.run(['true']),\n"
        "         lambda: socket.socket().connect(('127.0.0.1', 9)),\n"
        "         lambda: socket.socket(socket.AF_UNIX).connect('/tmp/x'),\n"
        "         lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))]\n"
        "for one in tries:\n"
        "    try:\n"
        "        one()\n"
        "        print('done')\n"
        "    except PermissionError as error:\n"
        "        print('held back')\n"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(secret), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    assert out.decode().split() == ["held", "back"] * 12
    assert os.listdir(tmp_path) == ["secret"]


def test_no_part_of_a_url_is_left_in_a_text() -> None:
    url = Secret("slack://TokenAAA/TokenBBB/x?footer=no")
    text = without_secrets("posting to TokenAAA with TokenBBB failed", url)
    assert text == "posting to *** with *** failed"


def test_what_a_url_writes_in_another_way_is_left_out_as_well() -> None:
    url = Secret("mailto://ada:p%40ssw%C3%B6rt@example.com")
    assert without_secrets("login with p@sswört failed", url) == "login with *** failed"
