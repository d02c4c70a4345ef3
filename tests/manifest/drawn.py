"""Definitions as Hypothesis draws them: valid, and as nasty as valid ones can be."""

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from cadenza.domain.definition import EndpointDefinition, JobDefinition, check_endpoint, check_name
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.errors import InvalidInput
from cadenza.domain.graph import GraphLimits
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.target import HttpTarget, Secret, ShellTarget
from cadenza.manifest.names import in_nfc
from tests.factories import CRON, NOON
from tests.manifest.policy import POLICY

NASTY = [
    "yes", "no", "on", "off", "y", "null", "~", "true", "1e3", "1_000", "0x10", "0o7", "0900",
    "12:30:45", "2020-01-01", ".inf", ".nan", "-", "- x", "? x", ": x", "a: b", " #x", "x #y",
    "#x", "&a", "*a", "!!str x", "@daily", "`x`", "%x", "'", '"', '"x"', "{x}", "[x]", "x,", "|",
    ">", "\\", "\\n", "é", "日本", "😀", "\u2028", "\x85", "\ufeff", "\x7f", "a\nb", "a\n\nb\n",
    "\na", " a\nb", "a \nb", "a\n b", "a\n\tb", "a\r\nb", "\ta", "a\n", "a\n\n\n", "<<", "=",
    "...", "---", "---\nx", "%YAML 1.1\nx", "a\n#b", "a\n---\nb", "a\n...\n",
]  # fmt: skip


def _is_name(text: Any) -> bool:
    try:
        check_name("name", text)
    except InvalidInput:
        return False
    return True


texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40),
    st.lists(st.sampled_from(NASTY), max_size=4).map("\n".join),
)
names = st.one_of(
    st.sampled_from([text for text in NASTY if _is_name(text)]),
    st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=40)
    .map(in_nfc)
    .filter(_is_name),
)
durations = st.integers(1, 366 * 86_400).map(lambda count: timedelta(seconds=count))
timeouts = st.integers(1, 1_800_000).map(lambda count: timedelta(milliseconds=count))
header_values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
header_names = st.sampled_from(["X-One", "on", "yes", "123", "null", "1e3", "X-Two", "~"])
baselines = st.one_of(
    durations.map(Every),
    st.sampled_from([CronLine("*/5 * * * *"), CronLine("0 9 * * mon-fri", "Europe/Paris")]),
    st.just(OnDemand()),
)


@st.composite
def http_targets(draw: st.DrawFn) -> HttpTarget:
    method = draw(st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE"]))
    plain = draw(st.dictionaries(header_names, header_values, max_size=3))
    hidden = draw(st.dictionaries(header_names, st.just(Secret("***")), max_size=2))
    return HttpTarget(
        url=draw(st.sampled_from(["https://example.com/", "http://x.example:8080/a?b=%20#c"])),
        method=method,
        headers={name: value for name, value in plain.items() if name not in hidden},
        secret_headers=hidden,
        body=None if method in ("GET", "HEAD") else draw(st.none() | texts),
        timeout=draw(timeouts),
        max_redirects=draw(st.integers(0, 10)),
        success_statuses=tuple(draw(st.lists(st.integers(100, 599), max_size=3))),
        success_when=draw(st.none() | st.sampled_from(["body.ok == true", 'body == "yes"'])),
    )


shell_targets = st.builds(
    ShellTarget,
    command=st.lists(texts, min_size=1, max_size=4).filter(lambda words: words[0] != "").map(tuple),
    folder=st.none() | st.just("/srv/it's here"),
    timeout=timeouts,
)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
limits = st.builds(
    GraphLimits,
    time=st.integers(1, 86_400).map(lambda count: timedelta(seconds=count)),
    memory_mb=st.integers(32, 4096),
    calls=st.none() | st.integers(1, 100),
)
graph_targets = st.builds(
    GraphTarget,
    graph_id=st.sampled_from(["langgraph:poet", "python:a.b:c", "x:yes", "x:#1"]),
    input=st.dictionaries(texts, json_values, max_size=3),
    limits=limits,
    grant_id=st.none(),
    account=st.none() | names,
) | st.builds(GraphTarget, graph_id=st.just("langgraph:poet"), grant_id=st.uuids())


@st.composite
def endpoints(draw: st.DrawFn) -> EndpointDefinition:
    least, most = sorted(draw(st.tuples(durations, durations)))
    definition = EndpointDefinition(
        name=draw(names),
        baseline=draw(baselines),
        target=draw(st.one_of(http_targets(), shell_targets, graph_targets)),
        min_interval=draw(st.none() | st.just(least)),
        max_interval=draw(st.none() | st.just(most)),
    )
    check_endpoint(definition, POLICY, NOON, CRON)
    return definition


@st.composite
def jobs(draw: st.DrawFn) -> JobDefinition:
    made = draw(st.lists(endpoints(), max_size=3, unique_by=lambda endpoint: endpoint.name))
    return JobDefinition(draw(names), draw(texts), tuple(made))
