"""Asks a model for a better system prompt, and takes only one with the same placeholders."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import NamedTuple

from evals.results.loading import Results, headline
from evals.running.call_cache import recording
from evals.running.folder import RunFolder
from rag.chat_writer import Model
from rag.prompting import PLACEHOLDERS, Prompt, fill_propose_prompt

FAULTS_SHOWN = 6
ATTEMPTS_SHOWN = 4
LONGEST = 8000
"""Characters of a proposed prompt."""
ATTEMPTS = 2
"""Calls for one proposal: an unusable reply is asked for once more."""
_ANSWER_SHOWN = 400
_PROMPT = re.compile(r"<prompt>\s*\n(.*?)\n\s*</prompt>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A prompt with its mean score on the tuning part, and what went wrong there."""

    prompt: Prompt
    score: float
    faults: tuple[str, ...] = ()


class Proposal(NamedTuple):
    """A prompt, or why the replies could not be used."""

    prompt: Prompt | None
    problem: str


def propose(model: Model, *, ask: Prompt, best: Attempt, history: Sequence[Attempt]) -> Proposal:
    """A variant of the best prompt. Raises EndpointError where the endpoint fails."""
    told = [f"Score {attempt.score:.3f}:\n{attempt.prompt.system}" for attempt in history[-ATTEMPTS_SHOWN:]]
    messages = fill_propose_prompt(
        ask,
        tuned=f"Score {best.score:.3f}:\n{best.prompt.system}",
        history="\n\n".join(told) or "None.",
        faults="\n\n".join(best.faults) or "None.",
    )
    problem = ""
    for attempt in range(ATTEMPTS):
        with recording(attempt):  # the cache keeps a reply that cannot be used, too
            reply = "".join(piece for piece in model.stream(messages) if isinstance(piece, str))
        text, problem = read_proposal(reply, name=best.prompt.name)
        if text is not None:
            return Proposal(replace(best.prompt, system=text), "")
    return Proposal(None, problem)


def read_proposal(reply: str, *, name: str) -> tuple[str | None, str]:
    """The system prompt in a reply, or why there is none that could be used for the prompt `name`."""
    found = _PROMPT.findall(reply)
    if len(found) != 1 or not found[0].strip():
        return None, "the reply does not hold one prompt between <prompt> and </prompt>"
    text = found[0].strip()
    if len(text) > LONGEST:
        return None, f"the prompt has {len(text)} characters, {LONGEST} are allowed"
    template = Template(text)
    if not template.is_valid() or set(template.get_identifiers()) != PLACEHOLDERS[name]["system"]:
        return None, "the prompt has other placeholders"
    return text, ""


def faults_of(run: RunFolder, results: Results) -> tuple[str, ...]:
    """The first cases that are not right or not well cited, with what was answered and why that is wrong."""
    told = []
    for (case_id, repeat), sample in run.samples().items():
        case, scores = results.cases[case_id], results.scores[case_id, repeat]
        reasons = [
            f"{name}: {score.reason}"
            for name in ("accuracy", "citation_f1")
            if (score := scores.get(name)) is not None and score.value is not None and score.value < 1
        ]
        if headline(case) and reasons:
            answer = sample.answer.text[:_ANSWER_SHOWN] or sample.answer.outcome
            told.append(f"Question: {case.question}\nAnswer: {answer}\nWrong: {'; '.join(reasons)}")
    return tuple(told[:FAULTS_SHOWN])
