"""Behind a real nginx with TLS: who asks is known by what it says, and by nobody else's word."""

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession, DummyCookieJar, TCPConnector
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.types import Message, Receive, Scope, Send

from cadenza.web.trusted_proxies import TrustedProxies
from tests.adapters.postgres.support import CADENZA, program, until
from tests.ports import free_port
from tests.postgres import MASTER_KEY, migrated_database_url

NGINX = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/certificate.pem;
        ssl_certificate_key {folder}/key.pem;
{location}
    }}
}}
"""
HOW_TO = Path(__file__).parents[2] / "docs/how-to/behind-tls.md"


@asynccontextmanager
async def api(folder: Path, **settings: object) -> AsyncIterator[int]:
    async with migrated_database_url() as url:
        port = free_port()
        command = (CADENZA, "api", "--port", str(port))
        log = folder / "api.log"
        with program(log, url, command=command, master_key=MASTER_KEY, **settings) as running:
            await until(lambda: "api started" in running.output(), within=60)
            async with ClientSession() as session:
                await until(lambda: answers(session, f"http://127.0.0.1:{port}/healthz"), within=30)
            yield port


async def answers(session: ClientSession, url: str) -> bool:
    try:
        async with session.get(url, ssl=False) as answer:
            return answer.status == 200
    except OSError:
        return False


@contextmanager
def nginx(folder: Path, api_port: int) -> Iterator[int]:
    """With the lines that the documentation gives."""
    port, text = free_port(), HOW_TO.read_text()
    location = text[text.index("    location / {") :].partition("\n}")[0]
    location = location.replace("127.0.0.1:8080", f"127.0.0.1:{api_port}")
    certificate(folder)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, location=location))
    path = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    assert path, "nginx is missing: make system installs it"
    process = subprocess.Popen([path, "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        yield port
    finally:
        process.terminate()
        process.wait(30)


def certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=3650))
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "key.pem").write_bytes(key.private_bytes(*form))


@asynccontextmanager
async def person(address: str) -> AsyncIterator[ClientSession]:
    """Who comes from an address of their own."""
    connector = TCPConnector(local_addr=(address, 0), ssl=no_questions())
    async with ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as session:
        yield session


def no_questions() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def wrong_key(session: ClientSession, url: str, claims: str | None = None) -> int:
    headers = {"X-Forwarded-For": claims} if claims else {}
    async with session.post(
        f"{url}/sign-in", data={"key": "cdz_wrong"}, headers=headers, allow_redirects=False
    ) as answer:
        return answer.status


async def test_limits_by_address_are_those_of_who_asked(tmp_path: Path) -> None:
    async with (
        api(tmp_path, trusted_proxies="127.0.0.1/32") as api_port,
        person("127.0.0.2") as one,
        person("127.0.0.3") as another,
    ):
        with nginx(tmp_path, api_port) as port:
            url = f"https://127.0.0.1:{port}"
            await until(lambda: answers(one, f"{url}/healthz"), within=30)
            for number in range(10):  # each time from elsewhere, it says
                assert await wrong_key(one, url, f"198.51.100.{number}") == 401
            assert await wrong_key(one, url, "198.51.100.99") == 429
            assert await wrong_key(another, url) == 401
        # Who is no proxy of ours is believed nothing, and has its own limit.
        direct = f"http://127.0.0.1:{api_port}"
        async with person("127.0.0.4") as outsider:
            for number in range(10):
                assert await wrong_key(outsider, direct, f"198.51.100.{number}") == 401
            assert await wrong_key(outsider, direct, "203.0.113.7") == 429


async def test_cookies_are_for_tls_alone_behind_it(tmp_path: Path) -> None:
    async with api(tmp_path, data_folder=tmp_path / "data") as api_port, person("127.0.0.2") as one:
        with nginx(tmp_path, api_port) as port:
            url = f"https://127.0.0.1:{port}"
            await until(lambda: answers(one, f"{url}/healthz"), within=30)
            printed = (tmp_path / "api.log").read_text()
            key = printed.partition("shown this once: ")[2].split()[0]
            form = {"key": key}
            async with one.post(f"{url}/sign-in", data=form, allow_redirects=False) as answer:
                assert answer.status == 303
                assert answer.headers["Location"] == "/"  # wherever that is for who asked
                assert "; Secure" in answer.headers["Set-Cookie"]
            plain = f"http://127.0.0.1:{api_port}/sign-in"
            async with one.post(plain, data=form, allow_redirects=False) as answer:
                assert "; Secure" not in answer.headers["Set-Cookie"]


@pytest.mark.parametrize(
    ("peer", "said", "asked_by"),
    [
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["9.9.9.9, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["9.9.9.9", "198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("10.0.0.1", ["198.51.100.1:99"], "198.51.100.1"),
        ("10.0.0.1", ["9.9.9.9, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["'; DROP TABLE"], "10.0.0.1"),
        ("10.0.0.1", [",".join(["10.0.0.9"] * 1000)], "10.0.0.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("198.51.100.1", ["9.9.9.9"], "198.51.100.1"),
    ],
)
async def test_the_list_is_read_from_its_end(peer: str, said: list[str], asked_by: str) -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    async def nothing(*_: Message) -> Message:
        return {}

    headers = [(b"x-forwarded-for", value.encode()) for value in said]
    scope = {"type": "http", "client": (peer, 1), "scheme": "http", "headers": headers}
    is_trusted = lambda address: address.startswith("10.")  # noqa: E731
    await TrustedProxies(app, is_trusted)(scope, nothing, nothing)
    assert seen[0]["client"][0] == asked_by
