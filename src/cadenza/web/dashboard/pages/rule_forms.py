"""The form of a declared rule: its fields as a document of the manifest has them, and back."""

from collections.abc import Sequence
from typing import Any

from cadenza.domain.errors import CadenzaError, InvalidFields, InvalidInput
from cadenza.domain.rule import Rule, RuleAction
from cadenza.manifest.rules import rule_document
from cadenza.web.dashboard.forms import Form

FIELDS = ("name", "endpoint", "when", "for", "act", "value", "target", "ttl", "cooldown",
          "reason")  # fmt: skip
ACTIONS = {
    RuleAction.INTERVAL: "run at this interval",
    RuleAction.RUN_NOW: "run once, now",
    RuleAction.RUN_IN: "run once, after this time",
    RuleAction.RUN_AT: "run once, at the time this expression returns",
    RuleAction.PAUSE: "pause for this time",
    RuleAction.RESUME: "resume",
    RuleAction.CLEAR: "clear the planner's hints",
}
_ALONE = (RuleAction.RUN_NOW, RuleAction.RESUME, RuleAction.CLEAR)  # that need no value


def form_of(rule: Rule, revision: int) -> Form:
    document = rule_document(rule)
    then = {**document["then"]}
    target = then.pop("endpoint", "")
    ((action, value),) = then.items()
    fields = {
        **{name: str(document[name]) for name in document if name != "then"},
        "act": action,
        "value": "" if value is True else str(value),
        "target": target,
        "ttl": document.get("ttl", "1h"),
    }
    return Form({**fields, "revision": str(revision)})


def document_of(form: Form) -> dict[str, Any]:
    action = form.text("act")
    value: Any = True if action in _ALONE else form.text("value")
    then = {action: value, "endpoint": form.optional("target")}
    runs = form.text("for")
    document: dict[str, Any] = {
        "name": form.text("name"),
        "endpoint": form.optional("endpoint"),
        "when": form.text("when"),
        "for": (int(runs) if runs.isdecimal() and len(runs) < 6 else runs) or None,
        "then": {name: value for name, value in then.items() if value is not None},
        "ttl": form.optional("ttl"),
        "cooldown": form.optional("cooldown"),
        "reason": form.optional("reason"),
    }
    return {name: value for name, value in document.items() if value is not None}


def of_this_rule(error: CadenzaError, index: int) -> CadenzaError:
    """Its problems at the fields of the form, which is about one rule."""
    inputs: Sequence[InvalidInput] = ()
    if isinstance(error, InvalidFields):
        inputs = error.problems
    elif isinstance(error, InvalidInput):
        inputs = [error]
    if not inputs:
        return error
    return InvalidFields([_at_its_field(problem, index) for problem in inputs])


def _at_its_field(problem: InvalidInput, index: int) -> InvalidInput:
    field = problem.field.removeprefix(f"rules[{index}]").removeprefix(".")
    if field == "then.endpoint":
        field = "target"
    elif field == "then" or field.startswith("then."):
        field = "value"
    return InvalidInput(field, problem.value, problem.fix)
