"""The table of metrics: named as Prometheus asks, bounded, and documented as it is."""

import re
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from cadenza.adapters.telemetry.catalogue import METRICS, Kind, Metric, Part
from cadenza.adapters.telemetry.prometheus import Metrics, PrometheusTelemetry
from cadenza.application.observing import COUNTED, CountedEvents
from cadenza.application.ports.events import Event
from cadenza.application.watch import UNWATCHED
from cadenza.domain.billing import TokenUsage
from tests.factories import NOON
from tests.observability.metrics_page import PAGE, written
from tests.observability.support import Samples, check_metrics

EVERYTHING = tuple(Part)
UNBOUNDED = {
    "endpoint",
    "endpoint_id",
    "job",
    "job_id",
    "run_id",
    "tenant_id",
    "url",
    "host",
    "path",
}


def test_the_page_of_metrics_is_that_of_the_code() -> None:
    """Written again by `python -m tests.observability.metrics_page`."""
    assert PAGE.read_text() == written()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_named_as_its_kind_asks(metric: Metric) -> None:
    assert re.fullmatch(r"cadenza_[a-z_]+[a-z]", metric.name)
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
    assert bool(metric.buckets) == (metric.kind is Kind.HISTOGRAM)
    assert not set(metric.labels) & UNBOUNDED
    assert list(metric.buckets) == sorted(metric.buckets)


def test_tenants_are_a_label_only_where_they_are_asked_for() -> None:
    by_tenant = [metric.name for metric in METRICS if "tenant" in metric.labels]
    assert by_tenant == ["cadenza_tenant_quota_used_ratio"]


def test_promtool_has_nothing_to_say_about_any_of_them() -> None:
    metrics = Metrics("everything", "1.0", EVERYTHING)
    for metric in METRICS:
        labels = tuple("x" for _ in metric.labels)
        if metric.kind is Kind.HISTOGRAM:
            metrics.histogram(metric.name, *labels).observe(1)
        elif metric.kind is Kind.COUNTER:
            metrics.counter(metric.name, *labels).inc()
        elif metric.name != "cadenza_build_info":
            metrics.gauge(metric.name, *labels).set(1)
    text = metrics.page()[0].decode()
    check_metrics(text)
    shown = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE cadenza_")}
    assert shown == {metric.name for metric in METRICS}


def _samples(metrics: Metrics) -> Samples:
    return Samples(metrics.page()[0].decode())


def _run(source: str, status: str, *, started: bool = True) -> SimpleNamespace:
    claim = SimpleNamespace(run_id=uuid4(), source=source, slot_at=NOON, attempt=1)
    started_at = NOON + timedelta(seconds=2) if started else None
    finished_at = NOON + timedelta(seconds=5)
    return SimpleNamespace(
        claim=claim, status=status, started_at=started_at, finished_at=finished_at
    )


def test_a_batch_is_counted_by_source_and_outcome_without_what_was_fenced() -> None:
    metrics = Metrics("scheduler", "1.0", [Part.RUNS])
    telemetry = PrometheusTelemetry(metrics)
    late = _run("manual", "success")
    batch = [_run("ai-interval", "success"), _run("ai-interval", "failure"), late]
    lost = _run("baseline-cron", "timeout", started=False)
    telemetry.finished([*batch, lost], {late.claim.run_id}, 0.02)
    samples = _samples(metrics)
    ai = {"source": "ai-interval"}
    assert samples.value("cadenza_runs_total", outcome="success", **ai) == 1
    assert samples.value("cadenza_runs_total", outcome="failure", **ai) == 1
    assert samples.value("cadenza_runs_total", source="baseline-cron", outcome="timeout") == 1
    assert samples.value("cadenza_runs_total", source="manual", outcome="success") == 0
    assert samples.value("cadenza_fenced_writes_total") == 1
    assert samples.value("cadenza_run_lateness_seconds_sum") == 4  # of the two that were started
    assert samples.value("cadenza_run_duration_seconds_sum") == 6
    assert samples.value("cadenza_finish_batch_runs_sum") == 4


def test_a_clock_that_stepped_back_makes_no_negative_lateness() -> None:
    metrics = Metrics("scheduler", "1.0", [Part.RUNS])
    early = _run("manual", "success")
    early.claim.slot_at = NOON + timedelta(hours=1)
    PrometheusTelemetry(metrics).finished([early], set(), 0.01)
    assert _samples(metrics).value("cadenza_run_lateness_seconds_sum") == 0


def test_methods_that_clients_make_up_are_one_series() -> None:
    metrics = Metrics("api", "1.0", [Part.API])
    telemetry = PrometheusTelemetry(metrics)
    for number in range(50):
        telemetry.answered(f"X{number}", 405, 0.001)
    assert _samples(metrics).labels("cadenza_api_requests_total") == [
        {"method": "other", "status": "4xx"}
    ]


def test_events_are_counted_whether_or_not_they_are_logged() -> None:
    class Silence:
        def wants(self, kind: str) -> bool:
            return False

        def emit(self, event: Event) -> None:
            raise AssertionError(event)

    metrics = Metrics("planner", "1.0", EVERYTHING)
    events = CountedEvents(Silence(), PrometheusTelemetry(metrics))
    for kind in COUNTED:
        assert events.wants(kind)
        events.emit(Event(NOON, kind, uuid4(), uuid4(), "probe"))
    assert not events.wants("run.finished")
    samples = _samples(metrics)
    assert samples.value("cadenza_leases_lost_total") == 1
    assert samples.value("cadenza_quota_refusals_total", reason="over-quota") == 1
    assert samples.value("cadenza_provider_failures_total") == 1


def test_what_models_used_is_counted_in_tokens_and_dollars() -> None:
    metrics = Metrics("graph-worker", "1.0", [Part.MODELS])
    PrometheusTelemetry(metrics).spent("graphs", TokenUsage(100, 20), 0.5)
    samples = _samples(metrics)
    assert samples.value("cadenza_tokens_total", use="graphs", direction="input") == 100
    assert samples.value("cadenza_tokens_total", use="graphs", direction="output") == 20
    assert samples.value("cadenza_cost_dollars_total", use="graphs") == 0.5


def test_attempts_to_send_are_counted_by_how_they_ended() -> None:
    metrics = Metrics("notifier", "1.0", [Part.NOTIFIER])
    attempts = [("event", "delivered"), ("event", "delivered"), ("notification", "retried")]
    PrometheusTelemetry(metrics).delivered(attempts)
    samples = _samples(metrics)
    counted = "cadenza_deliveries_total"
    assert samples.value(counted, kind="event", outcome="delivered") == 2
    assert samples.value(counted, kind="notification", outcome="retried") == 1


def test_where_nobody_watches_a_worker_has_the_very_same_ports() -> None:
    port = object()
    assert UNWATCHED.runs(port) is port  # type: ignore[arg-type]
    assert UNWATCHED.dispatcher(port) is port  # type: ignore[arg-type]
    assert UNWATCHED.work(port) is port  # type: ignore[arg-type]
    assert UNWATCHED.events(port) is port  # type: ignore[arg-type]


def test_a_reader_may_ask_for_open_metrics() -> None:
    body, media_type = Metrics("api", "1.0", [Part.API]).page("application/openmetrics-text")
    assert media_type.startswith("application/openmetrics-text")
    assert body.endswith(b"# EOF\n")


def test_the_page_is_in_the_reference() -> None:
    assert (
        "reference/metrics.md"
        in (Path(__file__).parent.parent.parent / "docs/how-to/monitor.md").read_text()
    )
