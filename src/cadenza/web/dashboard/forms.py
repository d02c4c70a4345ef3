"""Forms: what was sent, and what is wrong with it, by field."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request

from cadenza.domain.errors import CadenzaError, InvalidFields, InvalidInput, Refused, refuse
from cadenza.web.api.parsing.strict_json import check_text
from cadenza.web.api.problems import Malformed

MAX_FIELDS = 200
ENCODED = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Form:
    """The fields as they were sent, for a form that is shown again with what was typed."""

    values: Mapping[str, str] = field(default_factory=dict[str, str])
    chosen: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def text(self, name: str) -> str:
        return self.values.get(name, "").strip()

    def optional(self, name: str) -> str | None:
        """None where it was left empty."""
        return self.text(name) or None

    def several(self, name: str) -> Sequence[str]:
        """Every value of a group of boxes."""
        return self.chosen.get(name, ())


def gathered(
    reads: Mapping[str, Callable[[], Any]],
) -> tuple[dict[str, Any], list[InvalidInput]]:
    """What could be read, by name, and what is wrong with the others."""
    values, problems = dict[str, Any](), list[InvalidInput]()
    for name, read in reads.items():
        try:
            values[name] = read()
        except InvalidInput as error:
            problems.append(error)
    return values, problems


def read_all(reads: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """All of it, or InvalidFields with everything that is wrong."""
    values, problems = gathered(reads)
    refuse(problems)
    return values


async def read_form(request: Request) -> Form:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if body and kind != ENCODED:
        raise Malformed("Content-Type", kind, f"send the form as {ENCODED}")
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise Malformed("form", "what was sent", "the form cannot be read") from error
    chosen: dict[str, list[str]] = {}
    for name, value in pairs:
        check_text(name, value)
        chosen.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return Form({name: values[-1] for name, values in chosen.items()}, chosen)


@dataclass(frozen=True, slots=True)
class Problems:
    """What a form is shown with: a message beside each field, and one for the whole."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    general: str = ""

    def __bool__(self) -> bool:
        return bool(self.fields or self.general)

    def of(self, name: str) -> str:
        return self.fields.get(name, "")

    def any_of(self, *names: str) -> bool:
        """Whether a part of the form that is folded away must be seen."""
        return any(name in self.fields for name in names)


NO_PROBLEMS = Problems()


def problems_of(error: CadenzaError, known: Sequence[str]) -> Problems:
    """Each at its field; what belongs to a field that the form does not have, above it."""
    if isinstance(error, InvalidFields):
        inputs = list(error.problems)
    elif isinstance(error, InvalidInput):
        inputs = [error]
    else:
        return Problems(general=_sentence(str(error)))
    fields: dict[str, str] = {}
    others: list[str] = []
    for problem in inputs:
        name = field_of(problem.field)
        if name in known:
            fields[name] = " ".join(filter(None, (fields.get(name), _sentence(problem.fix))))
        else:
            others.append(_sentence(f"{problem.field}: {problem.fix}"))
    return Problems(fields, " ".join(others))


def outdated(form: Form, present: Form, known: Sequence[str]) -> tuple[Form, Problems]:
    """Somebody else has saved meanwhile: what was typed stays, beside what is stored now, and
    saving it again overwrites that."""
    fields = {
        name: f"Stored now: {present.text(name) or '(empty)'}"
        for name in known
        if form.text(name) != present.text(name)
    }
    text = (
        "Someone else has saved a change since you opened this page. What you typed is kept; "
        "where it differs, the stored value is shown. Save again to overwrite it."
    )
    values = {**form.values, "revision": present.text("revision")}
    return Form(values, form.chosen), Problems(fields, text)


# What a person can mend by changing what they typed; everything else is an error page.
MENDABLE = (InvalidInput, InvalidFields, Refused)
_SAME = {"every_ms": "every", "min_interval_ms": "min_interval", "max_interval_ms": "max_interval"}


def field_of(path: str) -> str:
    """`headers` of `headers.Accept`, `every` of `every_ms`, and `relax` of `planner.relax`."""
    name = path.removeprefix("planner.").split(".", maxsplit=1)[0].split("[", maxsplit=1)[0]
    return _SAME.get(name, name)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
