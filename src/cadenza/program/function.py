"""A declared function: still the plain function when it is called, and a handle to steer it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from cadenza.program.control import Written, duration_of
from cadenza.program.declarations import Declarations, Document, rule_document

if TYPE_CHECKING:
    from cadenza.domain.explanation import Explanation

P = ParamSpec("P")
R = TypeVar("R")
AnyFunction = Callable[..., Any]
HOUR = timedelta(hours=1)


class Function(Generic[P, R]):
    def __init__(
        self, declarations: Declarations, name: str, job: str, call: Callable[P, R]
    ) -> None:
        self._declarations = declarations
        self._call = call
        self.name = name
        self.job = job
        update_wrapper(cast("AnyFunction", self), call)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function itself; this is no run."""
        return self._call(*args, **kwargs)

    def when(
        self,
        expression: str,
        *,
        interval: Written | None = None,
        run_now: bool | None = None,
        run_in: Written | None = None,
        run_at: str | None = None,
        pause: Written | None = None,
        resume: bool | None = None,
        clear: bool | None = None,
        of: "Function[..., Any] | str | None" = None,
        for_runs: int | None = None,
        ttl: Written | None = None,
        cooldown: Written | None = None,
        reason: str | None = None,
        name: str | None = None,
    ) -> "Condition":
        """A rule about its answers: when the CEL expression holds, do this for a while.

        As a decorator it may do without an action: the decorated function is what it runs.
        """
        sibling = of.name if isinstance(of, Function) else of
        then: Document = {
            "interval": interval, "run_now": run_now, "run_in": run_in, "run_at": run_at,
            "pause": pause, "resume": resume, "clear": clear,
        }  # fmt: skip
        has_action = any(value is not None for value in then.values())
        fields: Document = {
            "for": for_runs, "ttl": ttl, "cooldown": cooldown, "reason": reason, "name": name,
        }  # fmt: skip
        condition = Condition(self._declarations, self, expression, fields)
        if has_action:
            condition.add({**then, "endpoint": sibling})
        return condition

    async def run_now(self) -> datetime:
        """A run now, whatever min and pause say; its slot. Refused while one is in flight."""
        return await self._declarations.running.run_now(self.name)

    async def hint(
        self,
        interval: Written | None = None,
        *,
        run_in: Written | None = None,
        run_at: datetime | None = None,
        ttl: Written = HOUR,
        reason: str = "",
    ) -> None:
        """Run at another interval for a while, or once at another time."""
        control, lasting = self._declarations.running, duration_of("ttl", ttl)
        if interval is not None:
            wanted = duration_of("interval", interval)
            await control.hint_interval(self.name, wanted, lasting, reason)
        if run_in is not None or run_at is not None:
            at = run_at or duration_of("run_in", run_in or 0)
            await control.hint_run(self.name, at, lasting, reason)

    async def clear_hints(self) -> None:
        await self._declarations.running.clear_hints(self.name)

    async def pause(self, until: datetime | None = None, *, reason: str = "") -> None:
        """No scheduled run before then; without an instant, until it is resumed."""
        await self._declarations.running.pause(self.name, until, reason)

    async def resume(self) -> None:
        await self._declarations.running.resume(self.name)

    async def explain(self) -> "Explanation":
        """Why it runs next when it does, and what would change that."""
        return await self._declarations.running.explain(self.name)

    def __repr__(self) -> str:
        return f"<function {self.job}/{self.name} of {self._declarations.program}>"


class Condition:
    """A rule as it is declared. It may decorate a function: that names it and gives its reason,
    and where the rule has no action yet, it is what the rule runs."""

    def __init__(
        self,
        declarations: Declarations,
        function: Function[..., Any],
        when: str,
        fields: Document,
    ) -> None:
        self._declarations = declarations
        self._function = function
        self._when = when
        self._fields = fields
        self._document: Document | None = None

    def add(self, then: Document) -> None:
        document = rule_document(self._function.name, self._when, then, **self._fields)
        self._document = self._declarations.add_rule(self._function.job, document)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        name = getattr(function, "__name__", "rule")
        reason = " ".join((function.__doc__ or "").split())[:500]
        if self._document is not None:
            self._document.update({"name": self._fields["name"] or name, "reason": reason})
            return function
        job = self._function.job
        fields = {"on_demand": True, "isolate": False}
        self._declarations.add_function(name, function, job, **fields)
        self._fields["reason"] = self._fields["reason"] or reason
        self.add({"run_now": True, "endpoint": name})
        return Function(self._declarations, name, job, function)
