"""Who watches in these tests: a scraper, promtool, and a receiver of traces."""

import gzip
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen
from uuid import UUID

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

from cadenza.adapters.telemetry.catalogue import METRICS
from tests.adapters.postgres.support import Program, until

PATIENCE = 120.0  # seconds: a machine may be busy
SERVED = "probes and metrics are served"
OURS = {metric.name: metric for metric in METRICS}


async def probe_port(program: Program) -> int:
    """Where it is, once it is served."""

    def port() -> int | None:
        assert program.process.poll() is None, program.output()
        lines = [line for line in program.lines() if line["event"] == SERVED]
        return lines[0]["port"] if lines else None

    return await until(port, within=PATIENCE)


def scraped(url: str, **headers: str) -> str:
    with urlopen(Request(url, headers=headers), timeout=PATIENCE) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return answer.read().decode()


class Samples:
    """By name and labels."""

    def __init__(self, text: str) -> None:
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self.all = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families.values()
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float:
        return self.all.get((name, frozenset(labels.items())), 0.0)

    def labels(self, name: str) -> list[dict[str, str]]:
        return [dict(labels) for known, labels in self.all if known == name]


def check_metrics(text: str) -> None:
    """As Prometheus's own tool sees them."""
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if line.startswith("cadenza_")]
    assert ours == []
    assert done.returncode in (0, 3), done.stderr  # 3: it has remarks, about none of ours


# --- Traces -------------------------------------------------------------------------------


class Receiver:
    """What an OpenTelemetry collector is to us: it takes spans over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.resources: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.status = 200

    def of(self, trace_id: UUID) -> dict[str, Span]:
        """The spans of a trace, by name."""
        return {span.name: span for span in self.spans if span.trace_id == trace_id.bytes}

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        self.headers.append(headers)
        for resource in request.resource_spans:
            self.resources.append(attributes(resource.resource))
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if receiver.status == 200:
                receiver.take(body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/v1/traces"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def attributes(owner: Any) -> dict[str, Any]:
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in owner.attributes
    }
