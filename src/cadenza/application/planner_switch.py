"""The planner stopped everywhere at once, and started again as it was.

A job's own modes come before the tenant's, so both are switched off. What they were is in the audit
entry of the stop; starting puts back what is still as the stop left it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cadenza.application.ports.records import AuditSearch, Records
from cadenza.application.ports.store import Store
from cadenza.application.recording import record
from cadenza.domain.access import Caller
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.rule import Mode, Modes

STOP, START = "planner.stop", "planner.start"
_BRAINS = ("rules", "detectors", "llm")
_ALL_OFF = Modes(Mode.OFF, Mode.OFF, Mode.OFF)


@dataclass(frozen=True, slots=True)
class PlannerSwitch:
    store: Store
    records: Records

    async def stop(self, caller: Caller) -> int:
        """How many jobs had modes of their own that were not off."""
        async with self.store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(caller.tenant_id)
            await tx.lock_jobs(caller.tenant_id)
            stored = await tx.declared_jobs(caller.tenant_id)
            busy = [row for row in stored if _own_modes(row.job.planner)]
            await tx.save_tenant(replace(tenant, modes=_ALL_OFF))
            if busy:
                off = [_with_modes(row.job.planner, _all_off(row.job.planner)) for row in busy]
                await tx.save_jobs(
                    [
                        replace(row, job=replace(row.job, planner=policy))
                        for row, policy in zip(busy, off, strict=True)
                    ]
                )
            data = {
                "modes": {brain: str(getattr(tenant.modes, brain)) for brain in _BRAINS},
                "jobs": {str(row.job.id): _own_modes(row.job.planner) for row in busy},
            }
            await record(tx, caller.actor, tenant.id, STOP, tenant.id, data)
        return len(busy)

    async def start(self, caller: Caller) -> Modes:
        """What the tenant's modes are then."""
        before = await self._before(caller)
        async with self.store.transaction() as tx:
            tenant, _ = await tx.lock_tenant(caller.tenant_id)
            await tx.lock_jobs(caller.tenant_id)
            modes = _modes_of(before.get("modes", {}))
            of_jobs: Mapping[str, Mapping[str, str]] = before.get("jobs", {})
            stored = await tx.declared_jobs(caller.tenant_id)
            changed = [
                replace(row, job=replace(row.job, planner=policy))
                for row in stored
                if (policy := _restored(row.job.planner, of_jobs.get(str(row.job.id), {})))
                != row.job.planner
            ]
            await tx.save_tenant(replace(tenant, modes=modes))
            if changed:
                await tx.save_jobs(changed)
            data = {"jobs": len(changed)}
            await record(tx, caller.actor, tenant.id, START, tenant.id, data)
        return modes

    async def _before(self, caller: Caller) -> dict[str, Any]:
        """As the last stop found it; nothing where there was none, or its entry is gone."""
        search = AuditSearch(action=STOP, limit=1)
        found = await self.records.search_audit(caller.tenant_id, search)
        return found.items[0].data if found.items else {}


def is_stopped(modes: Modes) -> bool:
    return modes == _ALL_OFF


def _own_modes(policy: PlannerPolicy) -> dict[str, str]:
    """Those that a job has itself, and that let a brain do something."""
    own = {brain: getattr(policy, brain) for brain in _BRAINS}
    return {brain: str(mode) for brain, mode in own.items() if mode not in (None, Mode.OFF)}


def _all_off(policy: PlannerPolicy) -> dict[str, Mode]:
    return dict.fromkeys(_own_modes(policy), Mode.OFF)


def _restored(policy: PlannerPolicy, before: Mapping[str, str]) -> PlannerPolicy:
    """Only what is off still: what somebody has set since stays."""
    modes = {
        brain: Mode(mode)
        for brain, mode in before.items()
        if brain in _BRAINS and getattr(policy, brain) is Mode.OFF
    }
    return _with_modes(policy, modes)


def _with_modes(policy: PlannerPolicy, modes: Mapping[str, Mode]) -> PlannerPolicy:
    return replace(policy, **modes)


def _modes_of(written: Mapping[str, str]) -> Modes:
    """The usual ones where nothing is known, or where everything had been off before, too."""
    modes = replace(Modes(), **{brain: Mode(mode) for brain, mode in written.items()})
    return Modes() if is_stopped(modes) else modes
