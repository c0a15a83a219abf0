"""Whether an agent abstains where no tool serves the request, or acts and answers all the same.

A goal is abstained from where both hold:

- no_call: the agent made no API call, valid or rejected. An agent that calls a tool for what none
  offers has not seen that it is missing, even if the rules stop the call. Tools of the chat itself,
  such as the search for tools, are no API.
- says_cannot: a clause of the final answer says that it cannot be done. It may say that the speaker
  cannot, or that no tool fits. An empty answer, a question, a statement without such a clause and
  "I found nothing" say nothing of the kind. English only, by rule.

An agent that answers from its own memory without a call has not abstained. Nor has one that calls
before it says that it cannot.

All three are 1.0 or 0.0 for every goal. Of goals that no tool serves more is better; of answerable
ones it is the share of needless refusals, and less is better.

Source: Kokane et al., ToolScan (2024), the condition of irrelevant queries, which scores them by
its patterns alone.
"""

from __future__ import annotations

from seal.core import Scale
from seal.core.speech import says_cannot
from seal.evaluation.goals import GoalChat, GoalMetric, Value

NAMES = ("abstained", "no_call", "says_cannot")


class Abstention(GoalMetric):
    """The three shares of the module's text; `NAMES`."""

    names = NAMES
    scales = dict.fromkeys(NAMES, Scale(higher_is_better=None, gold_is_best=False))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        calls = len(goal.made)
        silent, said = not calls, says_cannot(goal.answer or "")
        return {
            "abstained": Value(float(silent and said)),
            "no_call": Value(float(silent), details={"calls": calls}),
            "says_cannot": Value(float(said)),
        }
