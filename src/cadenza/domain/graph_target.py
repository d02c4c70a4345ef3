"""A graph as the target of an endpoint: what it is given, and on whose behalf it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from cadenza.domain.errors import InvalidInput
from cadenza.domain.graph import GraphLimits, check_graph_id, check_limits, check_size, model_of

GRAPHS = "graphs"  # the workers that run graphs


@dataclass(frozen=True, slots=True)
class Mandate:
    """The grant that it runs under, with whose it is and who pays: none of them ever changes."""

    grant_id: UUID
    user_id: UUID
    account_id: UUID


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """As its owner wrote it. The mandate is what became of `grant_id` and `account` when it was
    stored, and no part of the definition."""

    graph_id: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limits: GraphLimits = field(default_factory=GraphLimits)
    grant_id: UUID | None = None  # None: one that is made for it
    account: str | None = None  # who pays for one that is made for it, by name
    mandate: Mandate | None = field(default=None, compare=False)

    @property
    def host(self) -> str:
        return "graph"

    @property
    def timeout(self) -> timedelta:
        return self.limits.time

    @property
    def runs_on(self) -> str:
        return GRAPHS

    @property
    def model(self) -> str | None:
        return model_of(self.input)


def check_graph_target(target: GraphTarget) -> None:
    """InvalidInput with the field, the value and the reason, for the first thing that is wrong."""
    check_graph_id(target.graph_id, "graph")
    check_size("input", target.input)
    check_limits(target.limits)
    if target.grant_id is not None and target.account is not None:
        fix = "a grant names who pays; give a grant, or the account of one that is made for it"
        raise InvalidInput("account", target.account, fix)


def keeping_mandate(wanted: GraphTarget, stored: object) -> GraphTarget:
    """A grant that was made for it serves as long as graph and account stay as they are; where no
    account is named, it is whichever it has."""
    if not isinstance(stored, GraphTarget):
        return wanted
    if wanted.grant_id is None and wanted.account is None and stored.grant_id is None:
        wanted = replace(wanted, account=stored.account)
    is_same = (wanted.graph_id, wanted.grant_id, wanted.account) == (
        *(stored.graph_id, stored.grant_id, stored.account),
    )
    return replace(wanted, mandate=stored.mandate) if is_same else wanted
