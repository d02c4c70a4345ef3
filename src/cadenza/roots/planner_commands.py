"""What `cadenza planner` has besides the worker."""

from collections.abc import Mapping

from cadenza.cli.lazy import Later, LazyGroup


class PlannerCommands(LazyGroup):
    later: Mapping[str, Later] = {
        "eval": Later(
            "cadenza.roots.planner_eval",
            "Try a prompt or a model on scenarios with known right answers, or on a job's history.",
            "Commands",
        ),
        **{
            name: Later("cadenza.cli.planner_switch", about, "Commands")
            for name, about in (
                ("stop", "Stop the planner everywhere; what its modes were is kept."),
                ("start", "Start the planner again, with the modes that it had."),
                ("show", "Show what the planner may do, and whether it is stopped."),
            )
        },
    }
