"""Real brokers from the distribution's packages, as children on free ports with data of their own.

Each can be killed and started again on the same port and data, as a broker that is restarted.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from tests.certificates import Certificate
from tests.ports import free_port, free_ports

UP_WITHIN = 90.0  # seconds; a busy machine takes its time
SYSTEM_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


def _end_with_us() -> None:
    """Also where the tests are killed (PR_SET_PDEATHSIG); what it started itself may be left."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@dataclass
class Server:
    """A program that listens on a port."""

    command: Sequence[str]
    port: int
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = shutil.which(self.command[0], path=SYSTEM_PATH)
        assert program, f"{self.command[0]} is not installed: make system"
        with (self.folder / "out").open("ab") as out:
            self.process = subprocess.Popen(
                [program, *self.command[1:]],
                cwd=self.folder,
                env={**os.environ, **self.environment, "PATH": SYSTEM_PATH},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=_end_with_us,  # noqa: PLW1509 - it does nothing but that
            )
        self._wait_until_up()

    def stop(self, number: int = signal.SIGTERM) -> None:
        """The whole group of it."""
        process, self.process = self.process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
        with suppress(ProcessLookupError):  # what it left in its group
            os.killpg(process.pid, signal.SIGKILL)

    def freeze(self) -> None:
        """It answers nothing any more, and no connection ends."""
        self._signal(signal.SIGSTOP)
        assert self.process is not None
        while not _stands_still(self.process.pid):  # it may be in the middle of an answer
            sleep(0.01)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, number)

    def _wait_until_up(self) -> None:
        assert self.process is not None
        ends = monotonic() + UP_WITHIN
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self.process.poll() is None, (self.folder / "out").read_text()[-2000:]
            assert monotonic() < ends, (self.folder / "out").read_text()[-2000:]
            sleep(0.05)


@contextmanager
def redis_server(
    folder: Path, password: str = "", certificate: Certificate | None = None
) -> Iterator[Server]:
    port = free_port()
    command = ["redis-server", "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    if certificate is None:
        command += ["--port", str(port)]
    else:
        command += ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
        command += ["--tls-cert-file", str(certificate.chain), "--tls-key-file"]
        command += [str(certificate.key), "--tls-ca-cert-file", str(certificate.authority)]
    yield from _running(Server([*command, "--requirepass", password], port, folder))


@contextmanager
def nats_server(
    folder: Path,
    user: str = "",
    password: str = "",
    certificate: Certificate | None = None,
    config: str = "",
) -> Iterator[Server]:
    port = free_port()
    command = ["nats-server", "--addr", "127.0.0.1", "--port", str(port)]
    command += ["--jetstream", "--store_dir", str(folder)]
    if user:
        command += ["--user", user, "--pass", password]
    if config:
        (folder / "nats.conf").write_text(config)
        command += ["--config", str(folder / "nats.conf")]
    if certificate is not None:
        command += ["--tls", "--tlscert", str(certificate.chain), "--tlskey", str(certificate.key)]
    yield from _running(Server(command, port, folder))


@contextmanager
def rabbitmq_server(folder: Path, certificate: Certificate | None = None) -> Iterator[Server]:
    """With a port mapper (epmd) of its own, so that none is left behind."""
    port, dist_port, mapper_port, tls_port = free_ports(4)
    (folder / "plugins").write_text("[].")
    settings = ["disk_free_limit.absolute = 1MB"]
    if certificate is not None:
        settings += [
            f"listeners.ssl.default = 127.0.0.1:{tls_port}",
            f"ssl_options.cacertfile = {certificate.authority}",
            f"ssl_options.certfile = {certificate.chain}",
            f"ssl_options.keyfile = {certificate.key}",
            "ssl_options.verify = verify_none",
        ]
    (folder / "rabbitmq.conf").write_text("\n".join(settings) + "\n")
    environment = {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"cadenza{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(dist_port),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "ERL_EPMD_PORT": str(mapper_port),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }
    mapper = Server(["epmd", "-port", str(mapper_port)], mapper_port, folder, environment)
    # The one in /usr/sbin changes to a user who may not write here.
    program = "/usr/lib/rabbitmq/bin/rabbitmq-server"
    mapper.start()
    try:
        listens = port if certificate is None else tls_port
        yield from _running(Server([program], listens, folder, environment))
    finally:
        mapper.stop()


def _running(server: Server) -> Iterator[Server]:
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGKILL)  # its data goes, too: nothing is to be saved


def _stands_still(pid: int) -> bool:
    """All threads of it."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return all("\nState:\tT" in (task / "status").read_text() for task in tasks)
