"""What a client raises.

CadenzaError
└── ClientError
    ├── Unreachable         no server, or none that answers; `reason` is what happened
    ├── NotCadenza          something answers, but not as Cadenza does
    ├── NoSuchName          nothing has the name, or several have it
    └── ApiProblem          what the server said instead: `status`, `problem`, `fields` with fixes
        ├── NotAllowed      401, 403: no key, one that opens nothing, or one that may not do this
        ├── Missing         404, 410: not there, or no longer kept
        ├── Conflict        402, 409, 412: not now, or it has changed meanwhile
        ├── Invalid         400, 413, 415, 422 …: a value that is not accepted
        └── Busy            429, 5xx: later, perhaps; `retry_after` in seconds
"""

from dataclasses import dataclass
from typing import Any

from cadenza.domain.errors import CadenzaError


class ClientError(CadenzaError):
    """The root of what a client raises."""


class Unreachable(ClientError):
    def __init__(self, url: str, reason: BaseException, *, was_cut: bool = False) -> None:
        self.url = url
        self.reason = reason
        self.was_cut = was_cut  # it may have been heard, or not
        text = str(reason) or type(reason).__name__
        super().__init__(f"the server at {url} cannot be reached: {text}")


class NotCadenza(ClientError):
    def __init__(self, url: str, status: int) -> None:
        self.url = url
        self.status = status
        super().__init__(f"{url} answered {status}, and not as Cadenza does")


class NoSuchName(ClientError):
    pass


@dataclass(frozen=True, slots=True)
class FieldProblem:
    field: str
    value: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field}: {self.value}: {self.fix}"


class ApiProblem(ClientError):
    """Problem details, RFC 9457."""

    def __init__(
        self, status: int, problem: dict[str, Any], retry_after: float | None = None
    ) -> None:
        self.status = status
        self.problem = problem
        self.retry_after = retry_after
        self.title: str = str(problem.get("title", ""))
        self.detail: str = str(problem.get("detail", ""))
        self.request_id: str | None = problem.get("request_id")
        self.fields = [
            FieldProblem(str(one.get("field")), str(one.get("value")), str(one.get("fix")))
            for one in problem.get("errors") or ()
        ]
        text = "; ".join(map(str, self.fields)) or self.detail
        super().__init__(f"{self.title}: {text}" if text and text != self.title else self.title)


class NotAllowed(ApiProblem):
    pass


class Missing(ApiProblem):
    pass


class Conflict(ApiProblem):
    pass


class Invalid(ApiProblem):
    pass


class Busy(ApiProblem):
    pass


_BY_STATUS: dict[int, type[ApiProblem]] = {
    401: NotAllowed,
    402: Conflict,
    403: NotAllowed,
    404: Missing,
    409: Conflict,
    410: Missing,
    412: Conflict,
    429: Busy,
}


def problem_of(
    status: int, problem: dict[str, Any], retry_after: float | None = None
) -> ApiProblem:
    kind = Busy if status >= 500 else _BY_STATUS.get(status, Invalid)
    return kind(status, problem, retry_after)
