"""What a program has counted, in a registry of its own."""

import platform
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.gc_collector import GCCollector
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from cadenza.adapters.telemetry.catalogue import METRICS, Kind, Metric, Part
from cadenza.application.ports.claims import ObservedClaim, ObservedFinish
from cadenza.domain.billing import TokenUsage
from cadenza.domain.session import Session

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
# Which counter an event adds to, and its label.
EVENTS = {
    "run.lease_lost": ("cadenza_leases_lost_total",),
    "run.given_back": ("cadenza_runs_given_back_total",),
    "run.unsaved": ("cadenza_results_unsaved_total",),
    "provider.away": ("cadenza_provider_failures_total",),
    "quota.warning": ("cadenza_quota_warnings_total",),
    "session.over_quota": ("cadenza_quota_refusals_total", "over-quota"),
    "session.unpaid": ("cadenza_quota_refusals_total", "unpaid"),
}
_MAKERS: dict[Kind, Any] = {Kind.COUNTER: Counter, Kind.GAUGE: Gauge, Kind.HISTOGRAM: Histogram}


class Metrics:
    """The instruments of a program, by name; those that it has no part in are not shown."""

    def __init__(self, program: str, version: str, parts: Collection[Part]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        exposed = {*parts, Part.PROCESS}
        self._made = {
            metric.name: _made(metric, self._registry if metric.part in exposed else None)
            for metric in METRICS
        }
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        about = (version, program, platform.python_version())
        self.gauge("cadenza_build_info", *about).set(1)

    def counter(self, name: str, *labels: str) -> Counter:
        return self._of(name, labels)

    def gauge(self, name: str, *labels: str) -> Gauge:
        return self._of(name, labels)

    def histogram(self, name: str, *labels: str) -> Histogram:
        return self._of(name, labels)

    def clear(self, name: str) -> None:
        """Of every label: those that are not set again are gone."""
        self._made[name].clear()

    def _of(self, name: str, labels: Sequence[str]) -> Any:
        made = self._made[name]
        return made.labels(*labels) if labels else made

    def page(self, accept: str = "") -> tuple[bytes, str]:
        """As the reader asks for it, and its type."""
        encode, media_type = choose_encoder(accept)
        return encode(_WithoutCreated(self._registry)), media_type


class _WithoutCreated:
    """A registry without the moments at which counters began, which double the number of series.
    The library can leave them out for a whole process only, and a user's program may want them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Family]:
        for family in self._registry.collect():
            family.samples = [one for one in family.samples if not one.name.endswith("_created")]
            yield family


def _made(metric: Metric, registry: CollectorRegistry | None) -> Any:
    more: dict[str, Any] = {"buckets": metric.buckets} if metric.buckets else {}
    make = _MAKERS[metric.kind]
    return make(metric.name, metric.about, metric.labels, registry=registry, **more)


class PrometheusTelemetry:
    """The Telemetry port. What a batch has in common is added up before a lock is taken for it."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._runs: dict[tuple[str, str], Counter] = {}
        self._answers: dict[tuple[str, int], Counter] = {}
        self._lateness = metrics.histogram("cadenza_run_lateness_seconds").observe
        self._duration = metrics.histogram("cadenza_run_duration_seconds").observe
        self._claims = metrics.counter("cadenza_claims_total").inc
        self._takeovers = metrics.counter("cadenza_takeovers_total").inc
        self._claim_seconds = metrics.histogram("cadenza_claim_duration_seconds").observe
        self._finish_seconds = metrics.histogram("cadenza_finish_duration_seconds").observe
        self._batch = metrics.histogram("cadenza_finish_batch_runs").observe
        self._fenced = metrics.counter("cadenza_fenced_writes_total").inc
        self._requests = {
            method: metrics.histogram("cadenza_api_request_duration_seconds", method).observe
            for method in (*METHODS, "other")
        }

    def claimed(self, claims: Sequence[ObservedClaim], seconds: float) -> None:
        self._claim_seconds(seconds)
        if claims:
            self._claims(len(claims))
            taken_over = sum(claim.attempt > 1 for claim in claims)
            if taken_over:
                self._takeovers(taken_over)

    def finished(
        self, batch: Sequence[ObservedFinish], fenced: Collection[UUID], seconds: float
    ) -> None:
        self._finish_seconds(seconds)
        self._batch(len(batch))
        if fenced:
            self._fenced(len(fenced))
            batch = [run for run in batch if run.claim.run_id not in fenced]
        ended = Tally((run.claim.source, run.status) for run in batch)
        for how, count in ended.items():
            counter = self._runs.get(how)
            if counter is None:
                counter = self._metrics.counter("cadenza_runs_total", *map(str, how))
                self._runs[how] = counter
            counter.inc(count)
        for run in batch:
            started_at = run.started_at
            if started_at is not None:
                self._lateness(max(0.0, (started_at - run.claim.slot_at).total_seconds()))
                self._duration(max(0.0, (run.finished_at - started_at).total_seconds()))

    def store_failed(self, operation: str) -> None:
        self._metrics.counter("cadenza_store_failures_total", operation).inc()

    def happened(self, kind: str) -> None:
        if kind in EVENTS:
            self._metrics.counter(*EVENTS[kind]).inc()

    def analysed(self, sessions: Sequence[Session]) -> None:
        for how, count in Tally((one.kind, str(one.end)) for one in sessions).items():
            self._metrics.counter("cadenza_sessions_total", *how).inc(count)
        for session in sessions:
            seconds = session.duration.total_seconds()
            self._metrics.histogram("cadenza_session_duration_seconds", session.kind).observe(
                max(0.0, seconds)
            )
            self._note_changes(session)
            if session.tokens:
                self.spent("planning", session.usage, session.cost)

    def _note_changes(self, session: Session) -> None:
        for call in session.tool_calls:
            if call.took_effect:
                result = "done"
            elif call.suggested:
                result = "suggested"
            elif call.refusal is not None:
                result = "refused"
            else:
                continue
            self._metrics.counter("cadenza_planner_changes_total", session.kind, result).inc()

    def spent(self, use: str, usage: TokenUsage, dollars: float) -> None:
        count = self._metrics.counter
        count("cadenza_tokens_total", use, "input").inc(usage.input_tokens)
        count("cadenza_tokens_total", use, "output").inc(usage.output_tokens)
        count("cadenza_cost_dollars_total", use).inc(max(0.0, dollars))

    def delivered(self, attempts: Iterable[tuple[str, str]]) -> None:
        for how, count in Tally(attempts).items():
            self._metrics.counter("cadenza_deliveries_total", *how).inc(count)

    def answered(self, method: str, status: int, seconds: float) -> None:
        method = method if method in METHODS else "other"
        counter = self._answers.get((method, status // 100))
        if counter is None:
            text = f"{status // 100}xx"
            counter = self._metrics.counter("cadenza_api_requests_total", method, text)
            self._answers[method, status // 100] = counter
        counter.inc()
        self._requests[method](seconds)
