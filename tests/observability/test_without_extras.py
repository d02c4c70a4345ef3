"""A program without the libraries, or with settings that make no sense."""

import sys

import pytest
from aiohttp import ClientSession
from pydantic import SecretStr
from structlog.testing import capture_logs

from cadenza.adapters.telemetry.catalogue import Part
from cadenza.domain.errors import InstallationError
from cadenza.roots.observability import watched
from cadenza.roots.probing import probe_port_of, probed
from cadenza.roots.settings import Settings

PARTS = (Part.RUNS,)


def _settings(**fields: object) -> Settings:
    return Settings().model_copy(update=fields)


async def test_without_prometheus_client_probes_answer_and_metrics_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    settings = _settings(probe_port=0)
    with capture_logs() as lines:
        async with watched(settings, "program", PARTS) as here, probed(settings, here, None):
            assert here.watch.telemetry is None
            (line,) = [line for line in lines if "port" in line]
            address = f"http://127.0.0.1:{line['port']}"
            async with ClientSession() as client:
                async with client.get(f"{address}/healthz") as answer:
                    assert answer.status == 200
                async with client.get(f"{address}/metrics") as answer:
                    assert answer.status == 501
                    assert "pip install 'cadenza[server]'" in await answer.text()


@pytest.mark.parametrize("missing", ["opentelemetry", "opentelemetry.sdk"])
async def test_without_opentelemetry_traces_are_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in [missing, *(name for name in sys.modules if name.startswith(f"{missing}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InstallationError, match=r"pip install 'cadenza\[tracing\]'"):
        async with watched(_settings(trace_ratio=0.5), "program", PARTS):
            pass


async def test_where_nobody_can_read_nothing_is_counted() -> None:
    async with watched(_settings(), "scheduler", PARTS) as here:
        assert here.watch.telemetry is None
        assert here.watch.traces is None
        assert here.page is None


@pytest.mark.parametrize("headers", ["Authorization", "=x", "a=b, c"])
async def test_headers_of_traces_that_cannot_be_read_are_not_shown(headers: str) -> None:
    settings = _settings(trace_ratio=1.0, trace_headers=SecretStr(headers))
    with pytest.raises(InstallationError) as refused:
        async with watched(settings, "scheduler", PARTS):
            pass
    assert "CADENZA_TRACE_HEADERS=***" in str(refused.value)


def test_up_counts_its_ports_from_the_first() -> None:
    assert probe_port_of(_settings(), 2) == {}
    assert probe_port_of(_settings(probe_port=9464), 2) == {"CADENZA_PROBE_PORT": "9466"}
    for port in (0, 65534):
        with pytest.raises(InstallationError, match="take one like 9464"):
            probe_port_of(_settings(probe_port=port), 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CADENZA_TRACE_RATIO", "2"),
        ("CADENZA_TRACE_RATIO", "nan"),
        ("CADENZA_TRACE_URL", "localhost:4318"),
        ("CADENZA_PROBE_PORT", "70000"),
        ("CADENZA_METRICS_TOKEN", "short"),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_by_its_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    from cadenza.roots.settings import read_settings

    monkeypatch.setenv(name, value)
    with pytest.raises(InstallationError) as refused:
        read_settings()
    assert name in str(refused.value)
