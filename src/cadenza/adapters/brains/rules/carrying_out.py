"""From proposals to effects: the tools are called, and the record says what came of each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cadenza.adapters.brains.rules.proposal import Proposal
from cadenza.application.ports.brain import Tools


@dataclass(frozen=True, slots=True)
class CarriedOut:
    fired: tuple[UUID, ...] = ()  # the declared rules whose call was not refused
    took_effect: bool = True  # all of it: what was only suggested, or refused, changes nothing


async def carry_out(
    proposals: Sequence[Proposal], findings: Sequence[str], tools: Tools
) -> CarriedOut:
    """Calls all tools, and submits an analysis that is written from what they answered."""
    answers = [
        await tools.call(proposal.tool, proposal.arguments, proposal.rule_id)
        for proposal in proposals
    ]
    outcomes = list(zip(proposals, answers, strict=True))
    # A proposal's sentence speaks of what it does, and may be a finding's: it is then not repeated.
    wanted = {proposal.sentence for proposal in proposals}
    reasons = [_outcome(proposal, answer) for proposal, answer in outcomes]
    reasons += [finding for finding in findings if finding not in wanted]
    await tools.call(
        "submit_analysis",
        {
            "reasoning": ". ".join(reasons),
            "confidence": min((proposal.confidence for proposal in proposals), default=None),
            "actions_taken": [proposal.tool for proposal, answer in outcomes if _is_done(answer)],
        },
    )
    rules = [proposal.rule_id for proposal, answer in outcomes if answer["ok"]]
    return CarriedOut(
        tuple(rule_id for rule_id in rules if rule_id is not None), all(map(_is_done, answers))
    )


def _is_done(answer: Mapping[str, Any]) -> bool:
    return answer["ok"] and not answer.get("suggested_only")


def _outcome(proposal: Proposal, answer: Mapping[str, Any]) -> str:
    if not answer["ok"]:
        return f"{answer['error']} (not done: {proposal.sentence})"
    notes = [
        *answer.get("clamped", ()),
        *map("left alone: {}".format, answer.get("left_alone", ())),
    ]
    sentence = f"{proposal.sentence} ({', '.join(notes)})" if notes else proposal.sentence
    return sentence if _is_done(answer) else f"Suggested: {sentence}"
