"""The same ports in memory, apart: a program over PostgreSQL does not load them at its start."""

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.web.api.dependencies import Stores


def memory_stores(memory: MemoryStores) -> Stores:
    return Stores(
        store=memory.store,
        jobs=memory.catalogue,
        endpoints=memory.catalogue,
        runs=memory.runs,
        records=memory.records,
        usage=memory.usage,
        readiness=memory.readiness,
        event_log=memory.event_log,
        latest_answers=memory.latest_answers,
        keys=memory.accounts,
        tenants=memory.accounts,
        signing_keys=memory.signing_keys,
        suggestions=memory.suggestions,
        purses=memory.purses,
        run_authors=memory.run_authors,
        planner_stops=memory.planner_stops,
        analysis_queue=memory.analysis_queue,
        billing=memory.billing,
        grants=memory.grants,
        schedules=memory.schedules,
        graphs=memory.workers,
        workers=memory.workers,
        sign_ins=memory.sign_ins,
        people=memory.people,
        ids=memory.ids,
        steering=memory.steering,
        scores=memory.scores,
        activity=memory.activity,
        notifications=memory.notifications,
    )
